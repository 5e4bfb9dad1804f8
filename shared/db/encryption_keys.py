"""Checks that a process has the keys of the database's encrypted texts before it reads or writes any.

The database stores the id of each key in use with a proof: a known text that only the same key can decrypt. A process
that lacks a key, or has another one under its id, does not start.
"""

from sqlalchemy import ARRAY, Connection, Engine, Text, all_, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from shared.db.connection import reading
from shared.db.tables.running import text_key
from shared.encryption import PLAIN, Texts, TextUnreadable
from shared.settings import SettingsError

PROOF = "bulksms"

STORED_KEYS = select(text_key.c.id, text_key.c.proof, text_key.c.created_at).order_by(
    text_key.c.created_at, text_key.c.id
)
ADD = insert(text_key).on_conflict_do_nothing(index_elements=["id"])
FORGET = delete(text_key).where(text_key.c.id != all_(bindparam("ids", type_=ARRAY(Text))))


class WrongTextKeys(SettingsError):
    """TEXT_KEYS does not match the texts of the database. The message says what to do."""


def texts_of(where: Connection | Engine) -> Texts:
    """The encryption of the texts of this database.

    Checks the keys on first use. Raises WrongTextKeys if they are not the database's.
    """
    texts = unchecked_texts_of(where)
    if not texts.checked:
        check_text_keys(where)
    return texts


def unchecked_texts_of(where: Connection | Engine) -> Texts:
    """The encryption of the texts of this database, `checked` or not."""
    texts: Texts = where.get_execution_options().get("texts", PLAIN)
    return texts


def check_text_keys(where: Connection | Engine) -> None:
    """Check that the process has every stored key, and store its first key. Raises WrongTextKeys."""
    texts = unchecked_texts_of(where)
    if isinstance(where, Engine):
        with reading(where) as connection:
            known = _compare(connection, texts)
    else:
        known = _compare(where, texts)
    if texts.current is not None and texts.current not in known:
        with where.engine.begin() as connection:
            proof = texts.seal(PROOF, of=texts.current)
            connection.execute(ADD, {"id": texts.current, "proof": proof})
            _compare(connection, texts)
    texts.checked = True


def keys_problem(engine: Engine) -> str | None:
    """What is wrong with the keys of this process, or None."""
    try:
        check_text_keys(engine)
    except WrongTextKeys as problem:
        return str(problem)
    return None


def forget_keys(connection: Connection, texts: Texts) -> list[str]:
    """Delete all stored keys but the first: no text is encrypted with them any more. Returns the remaining ones."""
    connection.execute(FORGET, {"ids": [texts.current] if texts.current is not None else []})
    return list(connection.execute(STORED_KEYS).scalars())


def _compare(connection: Connection, texts: Texts) -> list[str]:
    """The ids of the stored keys."""
    known = connection.execute(STORED_KEYS).all()
    missing = [row.id for row in known if row.id not in texts.ids]
    if missing:
        raise WrongTextKeys(
            f"Stored texts are encrypted with the key {missing[0]!r}, which TEXT_KEYS does not have. Add it. If"
            f" another key is to encrypt from now on, put that one first: TEXT_KEYS=new:...,{missing[0]}:... Nothing is"
            " read or sent without it."
        )
    for row in known:
        try:
            texts.open(row.proof, of=row.id)
        except TextUnreadable:
            raise WrongTextKeys(
                f"The key {row.id!r} in TEXT_KEYS is not the one that stored texts are encrypted with under this id."
                " Put that one back; a new key needs an id of its own."
            ) from None
    return [row.id for row in known]
