"""The audit log: who changed what, from where, and why."""

from typing import Any

from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint, services
from api.http.bounded_queries import reading_list
from api.http.pagination import number_cursor, page
from api.operator.changes.schemas import ChangePaging, ChangeResponse
from api.schemas.paging import page_of
from shared.accounts import audit_log
from shared.ids import LAST_NUMBER


@operator_endpoint("GET", "/changes", query=ChangePaging, response=page_of(ChangeResponse), scope="read")
def list_changes(caller: Operator, query: dict[str, Any]) -> Any:
    """List the changes of rights, money and operation, newest first: by account, actor or kind."""
    limit = query["limit"]
    with reading_list(services().engine) as connection:
        rows = audit_log.list_changes(
            connection,
            account_id=query.get("account_id"),
            actor=query.get("actor"),
            action=query.get("action"),
            before=number_cursor(query.get("cursor"), LAST_NUMBER),
            limit=limit + 1,
        )
    return page(rows, limit, lambda row: str(row["id"]))
