"""The catalogue of faults: what each is called, and why some are not run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

FAULTS = {
    "F01": "API process killed before the commit",
    "F02": "API process killed after the commit, before its task is published",
    "F03": "API process killed after its task was published, before the answer",
    "F04": "API killed as a whole under load",
    "F05": "API stopped by a signal under load",
    "F06": "worker killed while it claims",
    "F07": "worker killed after its claim",
    "F08": "worker killed with windows at the carrier",
    "F09": "worker killed after the answers, before the record",
    "F10": "worker killed between record and settlement",
    "F11": "worker stopped for three leases, then continued",
    "F12": "twice as many workers as intended for one carrier",
    "F13": "worker out of memory, then killed",
    "F14": "a batch on which the driver fails every time",
    "F15": "Redis killed and started again",
    "F16": "Redis away for the whole run, also when workers start",
    "F17": "Redis emptied in the middle",
    "F18": "Redis out of memory",
    "F19": "Redis pauses its clients",
    "F20": "connections to Redis half-open",
    "F21": "wrong type, then garbage, in the queue's key",
    "F22": "Redis evicts keys",
    "F23": "Redis started again from an old snapshot",
    "F24": "one task delivered fifty times",
    "F25": "Postgres restarted",
    "F26": "Postgres killed in the middle",
    "F27": "connection lost at COMMIT, before and after it was done",
    "F28": "Postgres has no connection left",
    "F29": "Postgres answers a second late",
    "F30": "Postgres is there and says nothing",
    "F31": "somebody holds the lock of an account",
    "F32": "deadlocks and serialization failures",
    "F33": "the database's disk is full",
    "F34": "SQLite's disk is full, or SQLite is busy",
    "F35": "the disk of the logs is full",
    "F36": "fsync of the database fails",
    "F37": "the database is restored from an older backup",
    "F38": "the schema changes while it runs",
    "F39": "SMSC refuses connections",
    "F40": "SMSC takes the connection and never answers the bind",
    "F41": "SMSC refuses our password",
    "F42": "SMSC drops the connection in the middle of windows",
    "F43": "SMSC takes messages and loses the answers",
    "F44": "SMSC answers too late, on the same connection",
    "F45": "SMSC throttles everything, then every tenth",
    "F46": "SMSC's queue is full",
    "F47": "SMSC is slow",
    "F48": "SMSC sends garbage and impossible lengths",
    "F49": "SMSC answers with wrong, repeated and unknown sequence numbers",
    "F50": "SMSC gives one id to two messages",
    "F51": "SMSC accepts without an id",
    "F52": "SMSC is silent, also to enquire_link",
    "F53": "SMSC unbinds, alerts, and sends unknown commands",
    "F54": "receipts before their answers",
    "F55": "receipts five times, in any order, contradicting each other",
    "F56": "receipts that never come",
    "F57": "ids in receipts written in another way than in answers",
    "F58": "ten receipts for each message",
    "F59": "worker killed between a receipt and its commit",
    "F60": "carrier over HTTP: broken JSON, 500 after accepting, reset in the body, 429 with Retry-After",
    "F61": "webhook's endpoint fails, redirects, hangs, asks to wait",
    "F62": "clocks of the API or of workers two hours off",
    "F63": "worker cut off from Postgres",
    "F64": "everything killed at once, started in random order",
    "F65": "connections to Postgres lost while a worker starts",
    "F66": "SMPP server killed under load",
    "F67": "Postgres killed, and Redis, under submits over SMPP",
    "S01": "a minute of random kills under a group of 100,000: API and workers",
    "S02": "a minute of random kills under a group of 100,000: Postgres and Redis too",
}

SHORT = ("F07", "F15", "F26", "F27")
"""Those that `make test ALL=1` runs too."""

DO_NOT_APPLY = {"F34": "there is no SQLite in this service"}


@dataclass(slots=True)
class Survived:
    """What one fault has cost."""

    fault: str
    recovery: float = 0.0
    """Seconds from the end of the fault to the last message's end."""
    in_doubt: int = 0
    """Messages that were in doubt at the end."""
    duplicates: int = 0
    """Messages that the carrier was given more than once."""
    note: str = ""


def summary(outcomes: dict[str, tuple[str, str]], survived: dict[str, Survived]) -> Iterator[str]:
    """One line a fault, then the totals. `outcomes` maps a fault to "passed", "failed" or "not run", and the reason."""
    for fault, title in FAULTS.items():
        outcome, reason = outcomes.get(fault, ("not run", DO_NOT_APPLY.get(fault, "not selected")))
        cost = survived.get(fault)
        measured = f"{cost.recovery:6.1f} s  {cost.in_doubt:4d} in doubt  {cost.duplicates} twice" if cost else ""
        more = "; ".join(filter(None, (reason, cost.note if cost else "")))
        yield f"{fault}  {outcome:<8}{measured:<35} {title}{f' ({more})' if more else ''}"
    passed = [fault for fault, (outcome, _) in outcomes.items() if outcome == "passed"]
    yield (
        f"survived {len(passed)} of {len(FAULTS) - len(DO_NOT_APPLY)} faults that apply;"
        f" worst recovery {_worst(survived, lambda cost: cost.recovery):.1f} s,"
        f" most in doubt {_worst(survived, lambda cost: cost.in_doubt):.0f},"
        f" duplicates {sum(cost.duplicates for cost in survived.values())}"
    )


def _worst(survived: dict[str, Survived], of: Callable[[Survived], float]) -> float:
    return max((of(cost) for cost in survived.values()), default=0.0)
