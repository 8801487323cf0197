"""The two parts a resume is made of, with no key that a runtime does not know.

A ref that is absent stays absent and an empty one stays empty: Python and JavaScript tell them
apart.
"""

from __future__ import annotations

from msgspec import Raw

from bridge.core.model import JsonText
from bridge.protocols.slices import object_of


def verbatim(raw: Raw) -> JsonText | None:
    """The slice of an optional member as it stands; null is not absent."""
    return bytes(raw) or None


def restart_part(
    name: JsonText,
    ref: JsonText | None,
    input_: JsonText | None,
    resumed: JsonText,
    revised: JsonText | None = None,
) -> JsonText:
    """The tool runs again; its input is the recorded text, or a revised one beside it."""
    request = object_of({"name": name, "ref": ref, "input": input_ if revised is None else revised})
    replaced = None if revised is None else input_ or b"null"
    return object_of(
        {
            "toolRequest": request,
            "metadata": object_of({"resumed": resumed, "replacedInput": replaced}),
        }
    )


def respond_part(name: JsonText, ref: JsonText | None, output: JsonText) -> JsonText:
    """`output` stands for what the tool would have given; null is one, none at all is not."""
    return object_of(
        {
            "toolResponse": object_of({"name": name, "ref": ref, "output": output}),
            "metadata": b'{"interruptResponse":true}',
        }
    )
