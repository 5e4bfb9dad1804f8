"""Findings of `bulksms doctor` about carriers: bound, refused, failing, throttled or paused."""

from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from sqlalchemy import Connection

from shared.carriers.control import list_carriers
from shared.health.finding import Finding, hint
from shared.plurals import counted

REFUSED = "suspended"
"""Prefix of the error of a carrier that refuses our credentials or whose certificate is not trusted."""


NO_BIND = "the carrier "
"""Part of the error of a carrier that accepted the connection, but then refused the bind or disconnected."""


def check_carriers(connection: Connection) -> Iterator[Finding]:
    """Yield a finding for each carrier that a live worker reports."""
    for carrier in list_carriers(connection):
        yield _finding(carrier)


def _finding(carrier: Mapping[str, Any]) -> Finding:
    name, state = f"carrier {carrier['carrier']}", carrier["state"]
    since = f"since {carrier['since'].astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
    reason = f": {carrier['error']}" if carrier["error"] else ""
    match state:
        case "ready":
            return _ready(name, carrier, reason)
        case "paused":
            waiting = f", {_waiting(carrier['messages'])}" if carrier["messages"] else ""
            return Finding(name, "notice", f"paused {since}{waiting}", hint("carrier", "resume", carrier["carrier"]))
        case "down":
            return Finding(name, "wrong", f"not bound {since}{reason}", _remedy_of_down(carrier))
        case _:
            remedy = (
                "Many messages in a row failed or got no answer: ask the carrier. It is probed with single messages,"
                " and used again once one is accepted. To stop even the probes, run"
                f" {hint('carrier', 'pause', carrier['carrier'])}"
            )
            return Finding(name, "wrong", f"its circuit breaker is open {since}{reason}", remedy)


def _waiting(messages: int) -> str:
    return "1 message waits" if messages == 1 else f"{messages:,} messages wait"


def _ready(name: str, carrier: Mapping[str, Any], reason: str) -> Finding:
    bound = f"ready in {carrier['ready']} of {counted(carrier['workers'], 'worker')}"
    if carrier["ready"] < carrier["workers"]:
        remedy = "Check that the carrier allows this many binds and can be reached from all machines."
        return Finding(name, "notice", f"{bound}{reason}", remedy)
    rate, allowed = carrier["rate"], carrier["allowed"]
    if allowed > 0 and not allowed >= rate > 0:
        configured = f"{rate:g} " if rate > 0 else "no limit, "
        remedy = (
            "It recovers within half a minute. If it does not, set the rate that the carrier allows:"
            f" {hint('carrier', 'set', carrier['carrier'], '--rate', max(1, int(allowed)))}"
        )
        return Finding(name, "notice", f"throttled to {allowed:.0f} of {configured}segments a second", remedy)
    pace = f"{rate:g} segments a second" if rate > 0 else "no rate limit"
    return Finding(name, "ok", f"{bound}, {pace}, window {carrier['window']}")


def _remedy_of_down(carrier: Mapping[str, Any]) -> str:
    if str(carrier["error"] or "").startswith(REFUSED):
        return (
            "The carrier refuses us, or its certificate is not trusted: correct its credentials in CARRIERS_FILE and"
            " restart the workers, or ask it. It is retried every 30 s."
        )
    if NO_BIND in str(carrier["error"] or ""):
        return (
            "It can be reached, but the bind fails: check that host and port are those of its SMPP service and whether"
            " it requires TLS, and ask the carrier what it logs about the bind. It is retried automatically."
        )
    return "Check that the workers can reach its address in CARRIERS_FILE. It is retried automatically."
