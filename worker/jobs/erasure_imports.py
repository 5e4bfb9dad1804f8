"""Erases a person's data in imports of contacts: what is left of their files, and the rejected rows."""

from sqlalchemy import Connection, delete

from shared.contacts.imports import drop_rest
from shared.db.expressions import parameter_rows
from shared.db.tables.contacts import contact_import, import_error
from shared.job_failures import clear_failures
from worker.jobs.erasure_search import ACCOUNT, SearchResult

FILE_DELETED = "An internal error stopped this import, and an erasure has deleted its file. Upload it again."
ERROR = parameter_rows("error", *import_error.c["import_id", "line"])
ERRORS = delete(import_error).where(
    import_error.c.import_id == ERROR.c.import_id,
    import_error.c.line == ERROR.c.line,
    contact_import.c.id == import_error.c.import_id,
    contact_import.c.account_id == ACCOUNT,
)


def erase_imports(connection: Connection, found: SearchResult, account_id: int) -> bool:
    """Erase the rejected rows, and the files of imports that have stopped early, whether the phone is in them or not.

    Returns False if the operator has resumed one of these imports: the erasure then waits for its end.
    """
    imports, lines = [each for each, _ in found.import_errors], [line for _, line in found.import_errors]
    connection.execute(ERRORS, {"account": account_id, "import_id": imports, "line": lines})
    for import_id in found.imports:
        clear_failures(connection, "import", import_id)
    return drop_rest(connection, found.imports, FILE_DELETED) == len(found.imports)
