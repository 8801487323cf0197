"""Settings: a TOML file under the environment, refused at start when anything is wrong.

`load` is the way in. Sections are frozen; durations are milliseconds once read.
"""

from bridge.config.kafka import KafkaConfig
from bridge.config.load import find_file, load
from bridge.config.root import Config
from bridge.config.sections import Http, Limits, Log, Retention, Topics, Worker
from bridge.config.source import Policy, Source

__all__ = [
    "Config",
    "Http",
    "KafkaConfig",
    "Limits",
    "Log",
    "Policy",
    "Retention",
    "Source",
    "Topics",
    "Worker",
    "find_file",
    "load",
]
