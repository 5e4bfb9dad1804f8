"""Statements: the sums of each month, and one month with its lines."""

from typing import Any

from sqlalchemy import Connection

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.http.csv import export
from api.http.request import current_request
from api.problems import Problem
from api.resources.statements.schemas import StatementResponse, StatementSummaryResponse
from api.schemas.paging import list_of
from shared.statements import read_statement, read_statements


@endpoint("GET", "/statements", response=list_of(StatementSummaryResponse), scope="balance:read")
def list_statements(caller: Caller, connection: Connection) -> Any:
    """List the months of the account, newest first: what moved the balance, by the time of posting."""
    return {"data": [each.as_dict() for each in read_statements(connection, caller.account_id)]}


@endpoint("GET", "/statements/<month>", response=StatementResponse, scope="balance:read")
def get_statement(caller: Caller, connection: Connection, month: str) -> Any:
    """Show a month, such as 2026-03. A closed one never changes; `GET /usage` has the messages by country.

    With `Accept: text/csv`, it is a CSV file: the lines between the opening and the closing balance.
    """
    return show_statement(connection, caller.account_id, month, "statement_not_found")


def show_statement(connection: Connection, account_id: int, month: str, problem: str) -> Any:
    """The response for a statement: JSON or, if the client asks for it, CSV. Raises the Problem."""
    found = read_statement(connection, account_id, month)
    if found is None:
        raise Problem(problem, f"The account has no statement of {month[:40]!r}. A month is written as 2026-03.")
    if not current_request().wants_csv:
        return found.as_dict()
    return export(f"statement-{month}.csv", found.rows()[0], lambda _: (found.rows(), None), dict.values)
