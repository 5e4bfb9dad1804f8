"""Finds sender IDs that look like another account's, for the operator who decides.

Phones show `AIpha` and `ALPHA`, `BE TA.` and `BETA` nearly alike, so names are compared without case, spaces, signs,
and differences between similar characters.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import ARRAY, Connection, Text, any_, bindparam, literal_column, select

from shared.accounts.sandbox import OWNS_SENDER_IDS
from shared.db.tables.accounts import SKELETON, account, sender_id

LOOKALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "2": "z"})
"""ASCII only, as sender IDs have no other characters. See Unicode TR 39 for the idea of a skeleton."""
PAIRS = (("rn", "m"), ("vv", "w"))

SENDERS, ACCOUNTS = sender_id.c, account.c
NAMES = (
    select(ACCOUNTS.id.label("account_id"), ACCOUNTS.name.label("account"), SENDERS.sender_id, SENDERS.state)
    .join_from(sender_id, account, ACCOUNTS.id == SENDERS.account_id)
    .where(OWNS_SENDER_IDS, SENDERS.state != "rejected", SENDERS.sender_id.regexp_match("[A-Za-z]"))
    .order_by(SENDERS.sender_id, ACCOUNTS.id)
)

ALIKE = NAMES.where(literal_column(SKELETON, Text) == any_(bindparam("skeletons", type_=ARRAY(Text))))


class Name(NamedTuple):
    """A sender ID of an account."""

    account_id: int
    account: str
    sender_id: str
    state: str


def skeleton(sender: str) -> str:
    """A name without what readers do not notice. `SKELETON` of the tables is the same in SQL, for an index."""
    left = "".join(character for character in sender.casefold() if character.isalnum()).translate(LOOKALIKES)
    for pair, one in PAIRS:
        left = left.replace(pair, one)
    return left


def likenesses(connection: Connection, of: Iterable[str] | None = None) -> dict[Name, list[Name]]:
    """Sender IDs, each with similar ones of other accounts. `of`: only those like one of these.

    Sandboxes and tests of carriers have none.
    """
    if of is None:
        return alike(Name(*row) for row in connection.execute(NAMES))
    skeletons = list({skeleton(name) for name in of})
    return alike(Name(*row) for row in connection.execute(ALIKE, {"skeletons": skeletons}))


def alike(names: Iterable[Name]) -> dict[Name, list[Name]]:
    """The same for these names."""
    by_skeleton: defaultdict[str, list[Name]] = defaultdict(list)
    for name in names:
        by_skeleton[skeleton(name.sender_id)].append(name)
    return {
        name: others
        for same in by_skeleton.values()
        for name in same
        if (others := [other for other in same if other.account_id != name.account_id])
    }
