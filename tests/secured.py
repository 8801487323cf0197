"""A broker as production has them: TLS on every door, logins, and nobody may anything unasked.

Certificates are made for each broker anew. An administrator's door without any of it is on
loopback, for the suite's own hand.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import trustme
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from bridge.demo.broker import DevBroker, free_ports
from bridge.kafka.rights import Right

USER = "bridge"
PASSWORD = "canary-pässword-7f3a"
DOORS = ("SASL", "MTLS", "OLD", "ELSEWHERE")
"""Listeners: logins over TLS; client certificates; an expired one; one of another host."""

_OPERATIONS = {
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
    "Create": AclOperation.CREATE,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
}
_KINDS = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
    "cluster": ResourceType.BROKER,
}
Acl = TypeVar("Acl", AclBinding, AclBindingFilter)
_LOGIN = "org.apache.kafka.common.security"


class Certificates:
    """PEM files in a folder: of an authority that is trusted, and of one that is not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.good, foreign = trustme.CA(), trustme.CA()
        self.ca = self._authority("ca", self.good)
        self.foreign_ca = self._authority("foreign-ca", foreign)
        self.server = self._issue("server", self.good, "127.0.0.1", "localhost")
        self.elsewhere = self._issue("elsewhere", self.good, "kafka.elsewhere.example")
        self.old_server = self._issue("old-server", self.good, "127.0.0.1", expired=True)
        self.client = self._issue("client", self.good, "worker.example", name=USER)
        self.old_client = self._issue("old-client", self.good, "w.example", name=USER, expired=True)
        self.foreign_client = self._issue("foreign-client", foreign, "w.example", name=USER)

    def _authority(self, name: str, authority: trustme.CA) -> Path:
        path = self.folder / f"{name}.pem"
        authority.cert_pem.write_to_path(str(path))
        return path

    def _issue(
        self,
        file: str,
        authority: trustme.CA,
        *hosts: str,
        name: str | None = None,
        expired: bool = False,
    ) -> Path:
        """Key and certificates in one file, as both Java and OpenSSL read them."""
        ended = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)
        issued = authority.issue_cert(
            *hosts,
            common_name=name,
            not_before=ended - datetime.timedelta(days=1) if expired else None,
            not_after=ended if expired else None,
        )
        key = load_pem_private_key(issued.private_key_pem.bytes(), None)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path = self.folder / f"{file}.pem"
        path.write_bytes(pem + b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        return path


class SecuredBroker(DevBroker):
    """One node with a listener for each of DOORS, and StandardAuthorizer."""

    def __init__(self, certificates: Certificates) -> None:
        super().__init__()
        self.certificates = certificates
        self.ports: dict[str, int] = {}

    def network(self, port: int, controller: int) -> dict[str, str]:
        self.ports = dict(zip(DOORS, free_ports(len(DOORS)), strict=True))
        doors = {"PLAINTEXT": port, "CONTROLLER": controller, **self.ports}
        protocols = {"SASL": "SASL_SSL", "PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT"}
        made = self.certificates
        return {
            **super().network(port, controller),
            "listeners": ",".join(f"{name}://127.0.0.1:{at}" for name, at in doors.items()),
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocols.get(name, 'SSL')}" for name in doors
            ),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "ssl.principal.mapping.rules": r"RULE:^.*CN=([^,]+).*$/$1/,DEFAULT",
            **_tls("SASL", made.server),
            **_tls("MTLS", made.server, truststore=made.ca),
            **_tls("OLD", made.old_server),
            **_tls("ELSEWHERE", made.elsewhere),
            "listener.name.sasl.sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN",
            "listener.name.sasl.scram-sha-512.sasl.jaas.config": (
                f"{_LOGIN}.scram.ScramLoginModule required;"
            ),
            "listener.name.sasl.plain.sasl.jaas.config": (
                f'{_LOGIN}.plain.PlainLoginModule required user_{USER}="{_ascii(PASSWORD)}";'
            ),
        }


def _tls(door: str, keystore: Path, truststore: Path | None = None) -> dict[str, str]:
    prefix = f"listener.name.{door.lower()}.ssl."
    settings = {"keystore.type": "PEM", "keystore.location": str(keystore)}
    if truststore is not None:
        settings |= {"truststore.type": "PEM", "truststore.location": str(truststore)}
        settings["client.auth"] = "required"
    return {prefix + name: value for name, value in settings.items()}


def _ascii(text: str) -> str:
    """As a properties file has it, where a backslash is doubled by nobody."""
    return "".join(c if c.isascii() else f"\\u{ord(c):04x}" for c in text)


class Secured:
    """The broker with an administrator's hand on it, and the settings of those who come in."""

    def __init__(self, broker: SecuredBroker) -> None:
        self.broker = broker
        self.made = broker.certificates

    @cached_property
    def admin(self) -> AdminClient:
        # Level 0: at the end its broker goes away before it, which is nothing to tell of
        return AdminClient({"bootstrap.servers": self.broker.bootstrap, "log_level": 0})

    def add_user(self) -> None:
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        asked = UserScramCredentialUpsertion(USER, info, PASSWORD.encode())
        for done in self.admin.alter_user_scram_credentials([asked]).values():
            done.result(20)

    def grant(self, rights: Iterable[Right]) -> None:
        bindings = [_acl(AclBinding, right) for right in rights]
        for done in self.admin.create_acls(bindings).values() if bindings else ():
            done.result(20)

    def revoke(self, rights: Iterable[Right]) -> None:
        filters = [_acl(AclBindingFilter, right) for right in rights]
        for done in self.admin.delete_acls(filters).values() if filters else ():
            done.result(20)

    def login(self, mechanism: str = "SCRAM-SHA-512", **changes: str) -> dict[str, str]:
        """`[kafka]` of a worker that has a password."""
        return {
            "bootstrap_servers": f"127.0.0.1:{self.broker.ports['SASL']}",
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": mechanism,
            "sasl_plain_username": USER,
            "sasl_plain_password": PASSWORD,
            "ssl_cafile": str(self.made.ca),
        } | changes

    def certificate(self, door: str = "MTLS", **changes: str) -> dict[str, str]:
        """`[kafka]` of a worker that has a certificate."""
        return {
            "bootstrap_servers": f"127.0.0.1:{self.broker.ports[door]}",
            "security_protocol": "SSL",
            "ssl_cafile": str(self.made.ca),
            "ssl_certfile": str(self.made.client),
        } | changes


def _acl(kind: type[Acl], right: Right) -> Acl:
    """A binding, or the filter that finds it."""
    pattern = ResourcePatternType.PREFIXED if right.prefixed else ResourcePatternType.LITERAL
    return kind(
        _KINDS[right.kind],
        right.name,
        pattern,
        f"User:{USER}",
        "*",
        _OPERATIONS[right.operation],
        AclPermissionType.ALLOW,
    )


@contextmanager
def secured(folder: Path) -> Iterator[Secured]:
    """Start the broker and end it with its data."""
    with SecuredBroker(Certificates(folder)) as broker:
        running = Secured(broker)
        running.add_user()
        yield running
