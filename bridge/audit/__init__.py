"""The independent checker: reads every topic and says which promise a log breaks.

A second opinion is worth something only if it shares no code with the first: nothing here imports
from `bridge` outside this package. Entry points: `checker.check` and `reader.read_topics`.
"""
