"""The pages that people read, and the parts of them that tests compare with the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
_FENCE = re.compile(r"^```.*?^```\n?", re.M | re.S)


def _pages() -> Iterator[Path]:
    yield from (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
    yield from sorted((ROOT / "docs").rglob("*.md"))
    yield from sorted((ROOT / "deploy" / "runbooks").glob("*.md"))


PAGES: Final = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in _pages()}
"""Every page by its path from the root."""


def section(page: str, title: str) -> str:
    """The text under a heading, to the next one of the same or a higher level."""
    text = PAGES[page]
    heads = [(m.start(), m.end(), len(m[1]), m[2]) for m in _headings(text)]
    for at, (_, end, level, found) in enumerate(heads):
        if found == title:
            after = (start for start, _, other, _ in heads[at + 1 :] if other <= level)
            return text[end : next(after, len(text))]
    raise AssertionError(f"{page} has no heading {title!r}")


def anchors(page: str) -> set[str]:
    """What a link to a heading of the page may name."""
    titles = (match[2] for match in _headings(PAGES[page]))
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def blocks(text: str, language: str) -> list[str]:
    """Fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return _FENCE.sub("", text)


def rows(text: str) -> list[list[str]]:
    """The cells of the first table's rows, its heading left out."""
    return tables(text)[0]


def tables(text: str) -> list[list[list[str]]]:
    """The rows of every table, their headings left out."""
    found = [table.splitlines() for table in re.findall(r"(?:^\|.*\n?)+", prose(text), re.M)]
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
        for table in found
    ]


def code(cell: str) -> str:
    """The text of a cell that is code."""
    return cell.strip("`")


def _headings(text: str) -> Iterator[re.Match[str]]:
    """Headings outside of fenced blocks: in those, `#` begins a comment."""
    fenced = [match.span() for match in _FENCE.finditer(text)]
    for match in re.finditer(r"^(#+) (.+)\n", text, re.M):
        if not any(start <= match.start() < end for start, end in fenced):
            yield match
