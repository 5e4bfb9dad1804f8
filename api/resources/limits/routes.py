"""The limits of the service and the account, and the account's backlog."""

from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from api.accept.recipients import hourly_limit
from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.resources.limits.schemas import LimitsResponse
from api.resources.sends.bottleneck import eta_of_queue, limits_of_sends
from shared.accounts.limits import limits_of
from shared.db.tables.sends import batch, send
from shared.ledger.spend_limits import standings
from shared.lifecycle import LANES
from shared.sends.sendable import MESSAGES_LEFT_OF_BATCH

BACKLOG = (
    select(func.coalesce(func.sum(MESSAGES_LEFT_OF_BATCH), 0))
    .join_from(send, batch, batch.c.send_id == send.c.id)
    .where(
        send.c.account_id == bindparam("account"),
        send.c.completed_at.is_(None),
        batch.c.state.not_in(["done", "canceled", "expired"]),
    )
)
UNEXPANDED = select(func.coalesce(func.sum(send.c.unexpanded), 0)).where(
    send.c.account_id == bindparam("account"), send.c.expanded_to.is_not(None)
)

OPEN = (
    select(send)
    .where(send.c.account_id == bindparam("account"), send.c.completed_at.is_(None), send.c.state != "canceled")
    .order_by(send.c.accepted.desc())
    .limit(10)
)
"""The largest unfinished sends."""


@endpoint("GET", "/limits", response=LimitsResponse, scope="")
def get_limits(caller: Caller, connection: Connection) -> Any:
    """Show all limits, and the account's backlog."""
    waiting = connection.execute(BACKLOG, {"account": caller.account_id}).scalar_one()
    limits, spending = limits_of(connection, caller.account_id), standings(connection, caller.account_id)
    waiting += connection.execute(UNEXPANDED, {"account": caller.account_id}).scalar_one()
    sends = connection.execute(OPEN, {"account": caller.account_id}).all() if waiting else []
    limited_by = limits_of_sends(connection, sends)
    eta = eta_of_queue(connection, account=caller.account_id) if waiting else None
    requests = services().rate_limits.rate_of(caller, limits)
    return {
        "requests_per_second": min(requests, caller.rate or requests),
        "backlog_messages": waiting,
        "backlog_limited_by": next((limited_by[send.id] for send in sends if send.id in limited_by), None),
        "backlog_eta": eta,
        "spending": {
            "day": limits.spend_day,
            "month": limits.spend_month,
            "spent_of_day": spending["day"].credits,
            "spent_of_month": spending["month"].credits,
        },
        "destinations": limits.destinations,
        "pumping_guard": limits.pumping,
        "messages_per_phone_hour": {
            str(category): hourly_limit(limits, lane, services().settings.recipient_limits) or None
            for lane, category in enumerate(LANES)
        },
    }
