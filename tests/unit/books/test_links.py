"""Links lead somewhere: to a page, a heading, a file; and every page can be found."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from tests.unit.books.pages import PAGES, ROOT, anchors, prose

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IN_CODE = re.compile(r"`((?:bridge|deploy|docs|schemas|tests)/[\w./-]*\w)`")


def resolved(page: str, target: str) -> str:
    """A relative target as a path from the root."""
    parts: list[str] = []
    for part in (PurePosixPath(page).parent / target).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_pages_and_headings_that_exist(page: str) -> None:
    """Relative ones; what stands elsewhere is not ours to hold."""
    for link in LINK.findall(prose(PAGES[page])):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = resolved(page, path) if path else page
        assert (ROOT / target).exists(), f"{page}: {link}"
        if anchor:
            assert target in PAGES, f"{page}: {link}"
            assert anchor in anchors(target), f"{page}: {link}"


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_exist(page: str) -> None:
    """Paths from the root, as code."""
    for path in IN_CODE.findall(prose(PAGES[page])):
        assert (ROOT / path).exists(), f"{page}: {path}"


def test_the_index_lists_every_page_of_docs() -> None:
    """A page that nobody can find tells nothing."""
    index = "docs/README.md"
    listed = {resolved(index, link.partition("#")[0]) for link in LINK.findall(PAGES[index])}
    pages = {page for page in PAGES if page.startswith("docs/") and page != index}
    assert pages <= listed
