"""`python -m tests.bench [NAME…]`: take figures, print them, and record them where asked."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.bench import machine, results
from tests.bench.figure import Figure, Options, Report
from tests.bench.figures import FIGURES


def main(arguments: list[str]) -> int:
    """0 when all was measured (reached or not), 1 when a measurement failed."""
    parser = _parser()
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in FIGURES]
    if unknown:
        parser.error(f"no figure {', '.join(unknown)}: choose from {', '.join(FIGURES)}")
    if given.list:
        for figure in FIGURES.values():
            print(f"{figure.name:14} {figure.what} ({figure.target})")
        return 0
    options = Options(given.pairs, given.events, given.scale)
    command = " ".join(["python -m tests.bench", *arguments])
    failed = 0
    for name in given.names or FIGURES:
        failed += not _take(FIGURES[name], options, command, record=given.record)
    return 1 if failed else 0


def _take(figure: Figure, options: Options, command: str, *, record: bool) -> bool:
    """Whether the figure could be taken; one that fails does not keep the next from its turn."""
    about = machine.describe()
    print(f"... {figure.name}", file=sys.stderr, flush=True)
    try:
        report: Report = figure.run(options)
    except Exception:
        print(f"{figure.name}: not measured\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        return False
    taken = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    text = results.section(figure, report, command, about, taken)
    print(text, flush=True)
    if record:
        results.record(figure.name, text)
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description="Take the figures of the bridge: ratios of runs by turns, median and spread. "
        "Each starts the broker it needs. A quiet machine of two cores takes about 45 minutes.",
        epilog=f"Figures: {', '.join(FIGURES)}.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures to take; default all")
    parser.add_argument("--pairs", type=_positive, default=5, help="pairs of runs (5)")
    parser.add_argument("--events", type=_positive, default=1_000, help="of idle_latency (1000)")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts (1.0)")
    parser.add_argument("--record", action="store_true", help="write into tests/bench/RESULTS.md")
    parser.add_argument("--list", action="store_true", help="say what each figure is, and stop")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
