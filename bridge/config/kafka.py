"""How to reach the cluster, by the names that Kafka people know.

Only these keys reach the client: nothing here fetches a URL or loads a class by name. Secrets come
from the environment or from files of their own, and print masked.
"""

from __future__ import annotations

import ipaddress
import ssl
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from bridge.config.values import Flag, Model
from bridge.errors import ConfigError

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


class KafkaConfig(Model):
    """`[kafka]`: the brokers, and how to be trusted by them."""

    bootstrap_servers: str = Field(min_length=1)
    client_id: str = "interrupt-bridge"
    security_protocol: SecurityProtocol = "PLAINTEXT"
    allow_plaintext: Flag = False
    sasl_mechanism: SaslMechanism = "SCRAM-SHA-512"
    sasl_plain_username: str | None = None
    sasl_plain_password: SecretStr | None = None
    sasl_plain_password_file: Path | None = None
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    ssl_password: SecretStr | None = None
    ssl_password_file: Path | None = None
    ssl_check_hostname: Flag = True

    @property
    def servers(self) -> list[str]:
        """Each `host:port` by itself."""
        return [server.strip() for server in self.bootstrap_servers.split(",")]

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    def client_kwargs(self) -> dict[str, Any]:
        """Connection arguments for any aiokafka client. Raises ConfigError on unreadable files."""
        kwargs: dict[str, Any] = {
            "bootstrap_servers": self.servers,
            "client_id": self.client_id,
            "security_protocol": self.security_protocol,
        }
        if self.uses_tls:
            kwargs["ssl_context"] = self._ssl_context()
        if self.uses_sasl:
            kwargs["sasl_mechanism"] = self.sasl_mechanism
            kwargs["sasl_plain_username"] = self.sasl_plain_username
            kwargs["sasl_plain_password"] = _secret(
                "kafka.sasl_plain_password", self.sasl_plain_password, self.sasl_plain_password_file
            )
        return kwargs

    def _ssl_context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ssl_cafile)
            context.check_hostname = self.ssl_check_hostname
            if self.ssl_certfile is not None:
                password = _secret("kafka.ssl_password", self.ssl_password, self.ssl_password_file)
                # An empty password makes OpenSSL fail; without the callable it would ask the tty.
                context.load_cert_chain(self.ssl_certfile, self.ssl_keyfile, lambda: password or "")
        except (OSError, ssl.SSLError) as error:
            files = f"{self.ssl_cafile}, {self.ssl_certfile}, {self.ssl_keyfile}"
            raise ConfigError(
                f"kafka.ssl_cafile, ssl_certfile, ssl_keyfile: cannot use {files} as PEM files "
                f"({error.strerror or error}); check the paths, their modes and the key's password"
            ) from error
        return context

    @field_validator("bootstrap_servers")
    @classmethod
    def _host_and_port(cls, value: str) -> str:
        for server in value.split(","):
            host, _, port = server.strip().rpartition(":")
            if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
                raise ValueError('each broker is host:port, such as "kafka-1:9092,kafka-2:9092"')
        return value

    @model_validator(mode="after")
    def _login_is_whole(self) -> Self:
        passwords = [self.sasl_plain_password, self.sasl_plain_password_file]
        given = [value for value in passwords if value is not None]
        if not self.uses_sasl:
            if given or self.sasl_plain_username is not None:
                raise ValueError(
                    "sasl_plain_* needs security_protocol SASL_SSL (or SASL_PLAINTEXT)"
                )
        elif self.sasl_plain_username is None or len(given) != 1:
            raise ValueError(
                f"security_protocol {self.security_protocol} needs sasl_plain_username and exactly "
                "one of sasl_plain_password_file and the variable BRIDGE_KAFKA__SASL_PLAIN_PASSWORD"
            )
        return self

    @model_validator(mode="after")
    def _encryption_is_whole(self) -> Self:
        if not self.uses_tls and (self.ssl_cafile or self.ssl_certfile or self.ssl_keyfile):
            raise ValueError("ssl_* files need security_protocol SSL or SASL_SSL")
        if self.ssl_keyfile is not None and self.ssl_certfile is None:
            raise ValueError("ssl_keyfile needs ssl_certfile beside it")
        if self.ssl_password is not None and self.ssl_password_file is not None:
            raise ValueError("ssl_password and ssl_password_file are both set: keep one")
        remote = [server for server in self.servers if not _is_loopback(server)]
        if remote and not self.uses_tls and not self.allow_plaintext:
            raise ValueError(
                f"security_protocol {self.security_protocol} would send everything in clear text "
                f"to {remote[0]}: use SASL_SSL or SSL, or set allow_plaintext = true on a trusted "
                "network"
            )
        return self


def _is_loopback(server: str) -> bool:
    host = server.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _secret(key: str, value: SecretStr | None, file: Path | None) -> str | None:
    if file is None:
        return value.get_secret_value() if value is not None else None
    try:
        return file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(f"{key}_file: cannot read {file} ({reason})") from error
