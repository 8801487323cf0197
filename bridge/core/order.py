"""What comes after what on one thread."""

from __future__ import annotations

from bridge.core.model import Order, Run


def order_of(run: Run) -> Order:
    """Where a run stands."""
    return Order(run.at, run.generation)


def is_after(order: Order, run: Run) -> bool:
    """Whether what stands there comes after the run; a tie counts as after (arrival).

    Generations decide where both sides have one and they differ. The agent may ask within the
    instant at which it is at work: only later work, by the agent's own clock, shows that the run is
    past.
    """
    if order.generation > 0 and run.generation > 0 and order.generation != run.generation:
        return order.generation > run.generation
    if order.rank == "work":
        return order.at > run.at + run.ahead
    return order.at >= run.at
