"""What agents write to their topics, protocol by protocol: mostly events that ask nothing.

The words are made up; shapes, members and sizes are those that producers of today write.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.traffic import a2a, ag_ui, genkit
from tests.bench.traffic.sample import Sample

QUIET: Mapping[str, tuple[Sample, ...]] = {
    "ag-ui": ag_ui.QUIET,
    "a2a": a2a.QUIET,
    "genkit": genkit.QUIET,
}
"""By protocol, the records of a shared topic that ask nothing, in their mix."""

RARE: Mapping[str, tuple[Sample, ...]] = {
    "ag-ui": ag_ui.RARE,
    "a2a": a2a.RARE,
    "genkit": genkit.RARE,
}
"""By protocol, records that are measured by themselves and stand in no mix: above all questions."""
