"""The queue: what waits and what is being sent, by account, category and carrier, and what limits it."""

from typing import Any

from sqlalchemy import Connection

from api.endpoint import operator_endpoint
from api.operator.queue.schemas import QueueEntryResponse, QueueQuery
from api.resources.sends.bottleneck import carriers_now, limit_while_sending, rate_limit_kind, unavailability
from api.schemas.paging import list_of
from shared.guard import state_of
from shared.lifecycle import LANES, BatchState
from shared.sends.queue_report import QueueEntry, read_queue


@operator_endpoint("GET", "/queue", query=QueueQuery, response=list_of(QueueEntryResponse), scope="read")
def get_queue(connection: Connection, query: dict[str, Any]) -> Any:
    """Show what waits and what is being sent, by account, category and carrier, each with what limits it.

    The entries with the most segments come first. Paused and held sends are not in it; scheduled ones are.
    """
    entries = read_queue(connection, query["limit"])
    carriers, held = carriers_now(connection), state_of(connection).held
    return {"data": [_entry(each, carriers, held) for each in entries]}


def _entry(entry: QueueEntry, carriers: dict[str, Any], held: bool) -> dict[str, Any]:
    return {
        **entry._asdict(),
        "category": LANES[entry.lane],
        "limited_by": "guard" if held else _limited_by(entry, carriers),
    }


def _limited_by(entry: QueueEntry, carriers: dict[str, Any]) -> str:
    if entry.frozen:
        return "account_frozen"
    if not carriers:
        return "no_worker"
    carrier = carriers.get(entry.carrier or "") or next(iter(carriers.values()))
    awaits_carrier = entry.state == BatchState.WAITING and entry.carrier is not None
    if (awaits_carrier or len(carriers) == 1) and not carrier.ready:
        return unavailability(carrier)
    if entry.state == BatchState.WAITING:
        return "due_later"
    if entry.rate_limit is not None:
        return rate_limit_kind(entry.rate_limit)
    return limit_while_sending(carrier) if entry.state == BatchState.SENDING else "queue_turn"
