"""The audit log: who changed what, from where, and why."""

from typing import Any

from sqlalchemy import Connection

from api.endpoint import operator_endpoint
from api.operator.changes.schemas import ChangePaging, ChangeResponse
from api.schemas.paging import newest_number
from shared.accounts import audit_log


@operator_endpoint("GET", "/changes", query=ChangePaging, pages=newest_number(ChangeResponse), scope="read")
def list_changes(connection: Connection, query: dict[str, Any], before: int, limit: int) -> Any:
    """List the changes of rights, money and operation, newest first: by account, actor or kind."""
    filters = {name: query.get(name) for name in ("account_id", "actor", "action")}
    return audit_log.list_changes(connection, **filters, before=before, limit=limit)
