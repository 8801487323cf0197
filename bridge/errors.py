"""What can go wrong outside the rules: one small tree of exceptions.

Each has a stable `code` for logs and alerts and the `exit_code` of the command that dies of it.
Messages say what to do next and name the offending thing; they never hold payloads or secrets.
What a record does wrong is no exception but a value: a verdict or a refusal.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar


class BridgeError(Exception):
    """Base of all. Not raised itself."""

    code: ClassVar[str] = "unexpected"
    exit_code: ClassVar[int] = 1


class ConfigError(BridgeError):
    """The settings are refused; `problems` holds one line for each, with the key's path."""

    code = "config"
    exit_code = 2

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class SourceNotConfigured(ConfigError):
    """State holds open runs of a source that the settings do not name, or an event of it is here.

    Where they name it, all goes on from where it stands.
    """

    code = "source_not_configured"


class ClusterError(BridgeError):
    """The cluster, or what stands on it, is not what the bridge needs."""

    code = "cluster"
    exit_code = 3


class TopicsWrong(ClusterError):
    """Topics are missing or set up otherwise than needed; says the command that mends it."""

    code = "topics_wrong"


class Unreachable(ClusterError):
    """No broker answered; holds the client's own reason where it logged one."""

    code = "unreachable"


class LoginFailed(ClusterError):
    """Brokers and client do not accept each other's certificate or login; says which setting."""

    code = "login_failed"


class NotAuthorized(ClusterError):
    """The cluster refused the principal; names the resource and the operation it needs.

    `named`: the brokers were asked what is missing, and the message says how to grant it.
    """

    code = "not_authorized"

    def __init__(self, message: str, *, named: bool = False) -> None:
        super().__init__(message)
        self.named = named


class GroupTaken(ClusterError):
    """Consumers that are no workers are in the workers' group and keep every worker out."""

    code = "group_taken"


class StateFormatNewer(ClusterError):
    """The state topic was written by a later release than this one can read."""

    code = "state_format_newer"


class DeploymentMismatch(ClusterError):
    """The state is that of a deployment with another app_id, number of slots or reroute topic."""

    code = "deployment_mismatch"


class StateLost(ClusterError):
    """The slot has written before, and its state partition does not hold what it wrote."""

    code = "state_lost"


class TopicNotStamped(ClusterError):
    """The state topic holds its writers' stamps, not the brokers', so nobody knows the time."""

    code = "topic_not_stamped"


class PositionLost(ClusterError):
    """A stored input position is no longer retained; going on would skip records silently."""

    code = "position_lost"


class RecordUnreadable(ClusterError):
    """The client cannot decode a record: a header's name that is no UTF-8, a checksum that fails.

    Brokers check less than clients do, so anybody who may write to a topic can write such a record.
    A batch is decoded from its first record on: past the bad one only `behind` is readable again,
    the offset after its batch.
    """

    code = "record_unreadable"

    def __init__(
        self, topic: str, partition: int, offset: int, behind: int, cause: str, remedy: str = ""
    ) -> None:
        """`cause` names the client's error; what it says itself may quote the record."""
        super().__init__(
            f"The record {topic}/{partition}/{offset} cannot be decoded ({cause}); its batch ends "
            f"before offset {behind}.{remedy and ' ' + remedy}"
        )
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.behind = behind
        self.cause = cause


class RerouteNotHome(ClusterError):
    """A rerouted record stands on a partition that is not its thread's home."""

    code = "reroute_not_home"


class InputUnknown(ClusterError):
    """A record is of no kind that this worker reads; what it might be is never guessed."""

    code = "input_unknown"


class TransactionUndecided(ClusterError):
    """A transaction of the slot lies open in a log, and nothing tells which end it was to have."""

    code = "transaction_undecided"


class TransactionError(BridgeError):
    """A slot's transaction did not commit for sure; its producer must not be used again."""

    code = "transaction"


class Fenced(TransactionError):
    """Another producer took the slot's transactional id, or the broker timed the transaction out.

    Which of the two, only the group tells: look at the membership before reopening.
    """

    code = "fenced"


class OutcomeUnknown(TransactionError):
    """The deadline passed during a commit: only fencing and restoring tell whether it happened."""

    code = "outcome_unknown"


class TransactionFailed(TransactionError):
    """A send or an abort failed: nothing of the transaction is visible, memory is unchanged."""

    code = "transaction_failed"


def skip_command(slot: int, topic: str, partition: int, to: int) -> str:
    """What an operator types to let a slot go on at offset `to` of one partition."""
    return (
        f"interrupt-bridge positions skip --slot {slot} --topic {topic} --partition {partition} "
        f"--to {to} --yes"
    )


AnyError = TypeVar("AnyError", bound=Exception)


def without_frames(error: AnyError) -> AnyError:
    """The error, and what caused it, without the frames that they came through.

    Frames keep all that was worked on in them: an error that is kept would keep it too.
    """
    each: BaseException | None = error
    while each is not None and each.__traceback__ is not None:
        each.__traceback__ = None
        each = each.__cause__ or each.__context__
    return error
