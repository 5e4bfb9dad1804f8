"""`bulksms text`."""

import click

from bulksms.environment import database, engine_of, installation
from bulksms.output import console, done, json_option, show_rows
from bulksms.texts import rewrite as rewrite_all
from shared.accounts.administration import Refused
from shared.accounts.audit_log import record
from shared.db.encryption_keys import STORED_KEYS, texts_of
from shared.encryption import TextKeyMissing, TextUnreadable
from shared.plurals import counted


@click.group()
def text() -> None:
    """Manage the keys that encrypt texts."""


@text.command()
@json_option
def keys(as_json: bool) -> None:
    """List the keys in use. This process must have all of them."""
    with database() as connection:
        texts = texts_of(connection)
        rows = [
            {"id": row.id, "encrypts": row.id == texts.current, "since": row.created_at}
            for row in connection.execute(STORED_KEYS)
        ]
    show_rows(rows, as_json, "Keys of texts", "There are none: texts are stored in plain text.")


@text.command()
def rewrite() -> None:
    """Re-encrypt every stored text with the first key of TEXT_KEYS; `plain` decrypts.

    Run it when all processes have the new setting. Keep the old keys until it has finished.
    """
    with engine_of(installation()) as engine:
        try:
            with console().status("Rewriting ..."):
                result = rewrite_all(engine)
        except (TextKeyMissing, TextUnreadable) as problem:
            raise Refused(str(problem)) from problem
        with engine.begin() as connection:
            record(connection, None, "texts.rewritten", after={**result.texts, "keys": result.keys})
    total = counted(sum(result.texts.values()), "text")
    if result.left:
        raise Refused(f"{total} rewritten; others were in use: run it again. All keys are still needed.")
    needed = f"the key {result.keys[0]!r} is" if result.keys else "no key is"
    done(f"{total} rewritten. From now on {needed} needed.")
