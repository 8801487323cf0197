"""Settings from a TOML file and the environment: environment over file over default.

Everything wrong is collected and refused at once, each with its key's path.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError

from bridge.config import problems
from bridge.config.root import Config
from bridge.errors import ConfigError

PREFIX = "BRIDGE_"
FILE_VARIABLE = "BRIDGE_CONFIG"
NOT_SETTINGS = (FILE_VARIABLE, "BRIDGE_TEST_")
"""Variables that begin so are no settings: the file's name, and what test suites use."""
DEFAULT_FILE = Path("bridge.toml")
_NAMED = f"--config or {FILE_VARIABLE} names another"


def find_file(named: Path | None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The settings file: as named, else by BRIDGE_CONFIG, else ./bridge.toml if it is there."""
    if named is None and environ.get(FILE_VARIABLE):
        named = Path(environ[FILE_VARIABLE])
    if named is not None:
        return named
    return DEFAULT_FILE if DEFAULT_FILE.exists() else None


def load(file: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """The settings of `file` (None: no file) under the environment. Raises ConfigError."""
    raw = _read(file) if file is not None else {}
    wrong = [
        f"{path}: a secret does not belong in the settings file; set "
        f"{PREFIX}{path.upper().replace('.', '__')}, or {path}_file"
        for path in _secrets(raw, Config)
    ]
    variables: dict[problems.Location, str] = {}
    known = list(variable_names())
    for name in setting_variables(environ):
        if name not in known:
            wrong.append(_unknown_variable(name, known))
            continue
        location = tuple(name.removeprefix(PREFIX).lower().split("__"))
        _put(raw, location, environ[name])
        variables[location] = name
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        wrong += problems.lines(error, Config, variables)
        if file is None and "kafka" not in raw:
            wrong.append(
                f"no settings file was read: there is no {DEFAULT_FILE} here, and {_NAMED}"
            )
        raise ConfigError(*wrong) from None
    if wrong:
        raise ConfigError(*wrong)
    return config


def setting_variables(environ: Mapping[str, str]) -> list[str]:
    """The variables of an environment that are settings, or are meant to be."""
    return sorted(
        name for name in environ if name.startswith(PREFIX) and not name.startswith(NOT_SETTINGS)
    )


def variable_names(model: type[BaseModel] = Config, prefix: str = PREFIX) -> Iterator[str]:
    """Every variable that is a setting."""
    for key, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            yield from variable_names(section, f"{prefix}{key.upper()}__")
        else:
            yield f"{prefix}{key.upper()}"


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {file} ({error.strerror}); {_NAMED}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not TOML: {error}") from error


def _put(raw: dict[str, Any], location: tuple[str, ...], text: str) -> None:
    section: Any = Config
    for key in location[:-1]:
        inner = raw.setdefault(key, {})
        if not isinstance(inner, dict):
            return  # the file has a plain value where a section belongs: reported as such
        raw, section = inner, section.model_fields[key].annotation
    annotation = section.model_fields[location[-1]].annotation
    raw[location[-1]] = text
    if not _is_text(annotation):
        # A number, a flag or an array; other text (a duration) stays, and is judged by its field.
        with suppress(ValueError):
            raw[location[-1]] = json.loads(text)


def _is_text(annotation: Any) -> bool:
    if isinstance(annotation, str) or annotation in (str, SecretStr, Path):
        return True
    return get_origin(annotation) is not tuple and any(map(_is_text, get_args(annotation)))


def _unknown_variable(name: str, known: Sequence[str]) -> str:
    section = name.partition("__")[0]
    # All names are too many for a line: those of the section that is meant, else the sections.
    shown = [each for each in known if each.partition("__")[0] == section]
    if not shown:
        shown = list(dict.fromkeys(re.sub("__.*", "__…", each) for each in known))
    near = problems.near(known, name)
    return f"{name}: unknown variable; {near}allowed: {', '.join(shown)}"


def _secrets(raw: dict[str, Any], model: type[BaseModel]) -> Iterator[str]:
    for key, field in model.model_fields.items():
        if key not in raw:
            continue
        inner = problems.nested(field.annotation)
        if problems.is_secret(field.annotation):
            yield key
        elif inner is not None and isinstance(raw[key], dict):
            yield from (f"{key}.{name}" for name in _secrets(raw[key], inner))
