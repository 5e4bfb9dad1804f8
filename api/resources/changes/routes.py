"""The account's audit log: who changed rights, money and settings.

What operators did is shown without their names, reasons and addresses, which are for operators.
"""

from typing import Any

from sqlalchemy import Connection, bindparam, case, literal, null, or_, select

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.resources.changes.schemas import ChangeResponse
from api.schemas.paging import newest_number
from shared.accounts.audit_log import PERSON_ID
from shared.db.tables.accounts import audit_log
from shared.db.tables.people import membership, person

IS_OF_ACCOUNT = or_(audit_log.c.actor.like("key %"), audit_log.c.actor == "worker", membership.c.person_id.is_not(None))
"""Whether a key, a worker, or a person who is or was in the account did it; otherwise an operator did."""
LIST = (
    select(
        audit_log.c.id.label("change_id"),
        audit_log.c.action,
        case((IS_OF_ACCOUNT, audit_log.c.actor), else_=literal("operator")).label("actor"),
        person.c.name.label("actor_name"),
        audit_log.c.subject,
        audit_log.c.before,
        audit_log.c.after,
        case((IS_OF_ACCOUNT, audit_log.c.reason), else_=null()).label("reason"),
        case((IS_OF_ACCOUNT, audit_log.c.address), else_=null()).label("address"),
        case((IS_OF_ACCOUNT, audit_log.c.request_id), else_=null()).label("request_id"),
        audit_log.c.at.label("created_at"),
    )
    .outerjoin(membership, (membership.c.account_id == audit_log.c.account_id) & (membership.c.person_id == PERSON_ID))
    .outerjoin(person, person.c.id == membership.c.person_id)
    .where(audit_log.c.account_id == bindparam("account"), audit_log.c.id < bindparam("before"))
    .order_by(audit_log.c.id.desc())
    .limit(bindparam("most"))
)


@endpoint("GET", "/changes", pages=newest_number(ChangeResponse, "change_id"), scope="people:read")
def list_changes(caller: Caller, connection: Connection, before: int, limit: int) -> Any:
    """List changes of the account's rights, money and settings, newest first."""
    return connection.execute(LIST, {"account": caller.account_id, "before": before, "most": limit}).all()
