"""How a statement of SQLAlchemy's is given to the driver."""

import pytest
from sqlalchemy import text
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from shared.db.connection import _for_driver
from worker.sending.claim import CLAIM
from worker.sending.next_batches import CANDIDATE, CANDIDATE_OF_CARRIER

DIALECT = PGDialect_psycopg()  # type: ignore[no-untyped-call]
STATEMENTS = {
    "a claim": CLAIM.text,
    "the next": CANDIDATE.text,
    "of a carrier": CANDIDATE_OF_CARRIER.text,
    "casts": "SELECT a::text, CAST(:a AS int), :b, b::uuid[]",
    "a time": "SELECT to_char(now(), 'HH24:MI:SS'), '12:30', :a",
    "a slice": "SELECT a[1:n], a[:from] FROM t",
    "a share": "SELECT 5 % 2, '100%' LIKE '1%', :a",
    "a parameter and a cast": "SELECT :a::int",
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_the_driver_gets_the_statement_that_sqlalchemy_compiles(statement: str) -> None:
    assert _for_driver(text(statement)).decode() == str(text(statement).compile(dialect=DIALECT))
