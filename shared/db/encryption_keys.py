"""Sees that a process has the keys that the database's texts are encrypted with, before it reads or writes any.

The database keeps the id of each key that has encrypted texts, with a proof: a known text that only the same key can
decrypt. A process that lacks one of them, or has another under its id, refuses to work.
"""

from sqlalchemy import Connection, Engine, text

from shared.db.connection import reading
from shared.encryption import PLAIN, Texts, TextUnreadable
from shared.settings import SettingsError

__all__ = ["WrongTextKeys", "check_text_keys", "forget_keys", "keys_problem", "texts_of"]

PROOF = "bulksms"

KNOWN = text("SELECT id, proof FROM text_key ORDER BY created_at, id")
ADD = text("INSERT INTO text_key (id, proof) VALUES (:id, :proof) ON CONFLICT (id) DO NOTHING")
FORGET = text("DELETE FROM text_key WHERE id <> ALL(:ids)")


class WrongTextKeys(SettingsError):
    """TEXT_KEYS does not fit the texts of the database. The message says what to do."""


def texts_of(where: Connection | Engine) -> Texts:
    """The encryption of the texts of this database.

    Looks once whether the keys are the database's. Raises WrongTextKeys when they are not.
    """
    texts: Texts = where.get_execution_options().get("texts", PLAIN)
    if not texts.checked:
        check_text_keys(where)
    return texts


def check_text_keys(where: Connection | Engine) -> None:
    """See that the process has every key that the database knows; the first key becomes known. Raises WrongTextKeys."""
    texts: Texts = where.get_execution_options().get("texts", PLAIN)
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
    """What is wrong with the keys of this process; None when nothing is."""
    try:
        check_text_keys(engine)
    except WrongTextKeys as problem:
        return str(problem)
    return None


def forget_keys(connection: Connection, texts: Texts) -> list[str]:
    """Forget the keys that no text is encrypted with any more: all but the first. Returns those that stay known."""
    connection.execute(FORGET, {"ids": [texts.current] if texts.current is not None else []})
    return list(connection.execute(KNOWN).scalars())


def _compare(connection: Connection, texts: Texts) -> list[str]:
    """The ids of the keys that the database knows."""
    known = connection.execute(KNOWN).all()
    missing = [row.id for row in known if row.id not in texts.ids]
    if missing:
        raise WrongTextKeys(
            f"Stored texts are encrypted with the key {missing[0]!r}, which TEXT_KEYS does not have. Add it, after the"
            " first where another is to encrypt from now on: TEXT_KEYS=new:...,"
            f"{missing[0]}:... Nothing is read or sent without it."
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
