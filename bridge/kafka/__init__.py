"""Exactly-once on Kafka: slots, their producers, their state, and who serves them.

The rules that this package keeps; comments and tests call them by number, and tests/integration/
kafka runs most of them switched off as well, to show what is lost without.

R1   Fence, then read: what is read before the successor's producer has started may be stale.
R2   An empty control batch is no abort marker, and every takeover writes a record: a cleaned
     marker would make a compacted partition unreadable for aiokafka.
R3   A restore ends by position at the high watermark, never by the last record's offset.
R4   Await every send; a failed one fails the transaction, for a commit would publish the rest.
R5   One deadline around a transaction, then a hard kill: the client waits as long as a broker.
R6   A commit past its deadline has an unknown outcome; only fencing and restoring tell.
R7   Catch Exception around slot work: the client raises AssertionError and AttributeError too.
R8   A fenced slot asks the group first: a takeover and a timeout of our own look the same.
R9   No group offset decides anything; positions are records of the state topic.
R10  A heartbeat transaction contains a record: an empty commit is local and tells nothing.
R11  A transaction times out in 15 s: readers behind an orphan wait that long and 10 s more.
R12  A short back-off between transactions; the retries it costs are counted, not logged.
R13  Admin answers carry a code for each topic and raise nothing; configurations are not altered.
R14  No automatic offset reset: it replays or skips without a word.
R15  A deleted topic raises nothing: look for the topics that are read.
R16  The reason of a refused connection is only in the client's log: capture it.
R17  Stop the slots, then leave the group; listeners take notes; a poll is never cancelled.
"""
