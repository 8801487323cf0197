"""The engine of a slot, pure: records in order, due timers, what a transaction writes, the state.

No Kafka, no asyncio, no clock and no chance: whoever owns the producer says what time it is.
"""
