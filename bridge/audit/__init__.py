"""The auditor: reads a cluster's topics and says which promise of the bridge a log breaks.

A second opinion is worth something only if it shares no code with the first: nothing here imports
from `bridge` outside this package. The ten promises stand in `invariants`. In short:

    from bridge.audit.checker import check
    from bridge.audit.log import Setup, Source
    from bridge.audit.reader import read_topics

    records = await read_topics(
        {"agents.run-finished": "input", "bridge.approvals": "approvals", ...},
        bootstrap_servers="127.0.0.1:9092",
    )
    report = check(records, Setup({"agents.run-finished": Source("support-agents")}, slots=8))
    print(report.summary())  # report.ok, report.violations

`read_topics` reads everything up to now; `reader.opened` with `collecting.collect` reads since an
instant, or one thread. `check` is pure. A `Setup` says how the bridge was configured and what the
log lacks: of a cluster that works while it is read give `compacted`, `in_flight_ms`, `positions`
and `begins`, as `interrupt-bridge audit` does, else what is half written looks broken.
"""
