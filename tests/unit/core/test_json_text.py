"""Strict JSON: what is read, what is refused and how it is called, and when two texts are equal."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.core import json_text
from bridge.core.json_text import JsonError


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "not_json"),
        (b"1 2", "not_json"),
        (b"\xff", "not_json"),
        (b"\xef\xbb\xbf1", "not_json"),
        (b'"\n"', "not_json"),
        (b"NaN", "json_rules"),
        (b"[-Infinity]", "json_rules"),
        (b'{"a":1,"\\u0061":2}', "json_rules"),
        (b'"\\ud800"', "json_rules"),
        (b'{"\\uDC00":1}', "json_rules"),
        (b'["\\udc00\\ud800"]', "json_rules"),
        (b"[" + b"1" * 5_000 + b"]", "json_rules"),
        (b"1e99999999999999999999", "json_rules"),
        (b"[" * 65 + b"]" * 65, "too_deep"),
        (b'{"a":' * 1_000, "too_deep"),
    ],
)
def test_what_is_not_read_has_a_code(text: bytes, code: str) -> None:
    """The code is the dead-letter reason; the message never repeats the text."""
    with pytest.raises(JsonError) as caught:
        json_text.read(text)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\\\ud800"', "\\ud800"),  # an escaped backslash, no escape
        (b"18446744073709551617", 2**64 + 1),
        (b"50.0", Decimal("50.0")),
        (b"[" * 64 + b"]" * 64, None),
        (b'"' + b"[" * 100 + b'"', "[" * 100),
        (b'"\\"[' + b"{" * 100 + b'"', '"[' + "{" * 100),
    ],
)
def test_what_is_read(text: bytes, value: Any) -> None:
    """Pairs of surrogates, large numbers, brackets inside strings."""
    found = json_text.read(text)
    assert value is None or found == value


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("50", "50.0", True),
        ("1e2", "100", True),
        ("-0.0", "0", True),
        ("15e-1", "1.5", True),
        ("1E40", "1" + "0" * 40, True),
        ("[1.5,2]", "[1.50,2.0]", True),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', True),
        ("1", "true", False),
        ("0", "false", False),
        ("1.5", '"1.5"', False),
        ("[null,1.5]", "[1.5,null]", False),
        ('{"#":"5e1"}', "50", False),
        ("1e5000", "1e5001", False),
        ("18446744073709551617", "18446744073709551616", False),
        ("0.1", "0.10000000000000000001", False),
        ('{"a":null}', "{}", False),
    ],
)
def test_equality_is_of_json_values(one: str, other: str, equal: bool) -> None:
    """Numbers by value, members in any order, types apart."""
    digests = [json_text.digest(json_text.read(text.encode())) for text in (one, other)]
    assert (digests[0] == digests[1]) is equal


def test_many_large_exponents_cost_little() -> None:
    """A few bytes of payload must not become megabytes of digits."""
    value = json_text.read(b"[" + b",".join([b"1e4000"] * 30_000) + b"]")
    assert len(json_text.canonical(value)) < 2_000_000


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=3), inner, max_size=4
        )
    ),
    max_leaves=12,
)


def plain(value: Any) -> Any:
    """A naive form in which Python's own equality is that of JSON values."""
    if isinstance(value, dict):
        return ("object", frozenset((key, plain(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(map(plain, value)))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    return ("number", Decimal(value))


@given(JSON, JSON)
def test_digests_agree_with_naive_equality(one: Any, other: Any) -> None:
    """Equal values have equal digests and different values different ones."""
    same = plain(one) == plain(other)
    assert (json_text.digest(one) == json_text.digest(other)) is same
    assert json_text.digest(one) == json_text.digest(one)


@given(
    st.recursive(st.text('[]{}"\\a', max_size=4), lambda s: st.lists(s, max_size=2)),
    st.integers(1, 6),
)
def test_depth_is_that_of_the_value(value: Any, most: int) -> None:
    """Brackets in strings are no depth."""

    def depth(node: Any) -> int:
        return 1 + max(map(depth, node), default=0) if isinstance(node, list) else 0

    text = json.dumps(value).encode()
    if depth(value) > most:
        with pytest.raises(JsonError, match="nested deeper"):
            json_text.read(text, most)
    else:
        assert json_text.read(text, most) == value


WRITTEN = st.recursive(
    st.sampled_from(["1", "-0", "50.0", "1e2", "null", "NaN", '""', '"a:b"', '"\\u003a"', '"\\\\"'])
    | st.text(":\\u0{}", max_size=6).map(lambda text: f'"{text}"'),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(
            st.tuples(st.sampled_from(['"a"', '"\\u0061"', '"a:"', '"\\u003A"', '"b"']), inner),
            max_size=3,
        ).map(lambda pairs: f"{{{','.join(f'{key} : {value}' for key, value in pairs)}}}")
    ),
    max_leaves=8,
)


@given(WRITTEN)
def test_the_decoder_in_c_lets_in_only_what_keeps_the_rules(text: str) -> None:
    """Keys that stand there twice, however they are written, and values that hold colons."""

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(members)) == len(members)
        return dict(members)

    def refuse(name: str) -> Any:
        raise AssertionError(name)

    try:
        value = json.loads(
            text, object_pairs_hook=pairs, parse_constant=refuse, parse_float=Decimal
        )
    except (ValueError, AssertionError):
        with pytest.raises(JsonError):
            json_text.read(text.encode())
    else:
        assert json_text.read(text.encode()) == value
