"""Forms that came after their session had ended, kept through the page to sign in.

The token of a form, which protects it against forgery, names the person on whose page it was. What that person typed is
kept for them alone, encrypted, and is not sent by itself: a form that somebody else has made leads nowhere.
"""

import secrets
from dataclasses import asdict, dataclass

from flask import current_app, request, session
from itsdangerous import BadData, URLSafeTimedSerializer

from console.session.encrypted_forms import seal, unseal
from console.session.shown_again import SHOWN_AGAIN

TOKEN = "csrf_token"
"""The field of a form, and the entry of the session, with the token against forgery."""
SALT = "wtf-csrf-token"
"""With which Flask-WTF signs it."""
PURPOSE = "lost form"
SECONDS = 24 * 3600
"""For how long what was typed is kept."""
MOST_CHARACTERS = 32 * 1024
NOT_KEPT = frozenset({TOKEN, SHOWN_AGAIN, "lost", "sealed", "password", "new_password", "code", "secret", "uri"})
"""Fields that are not kept: tokens and secrets."""
NOT_TYPED = frozenset({"key"})


@dataclass(frozen=True, slots=True)
class LostForm:
    """What was typed into a form of a person whose session had ended."""

    person_id: str
    path: str
    """Where it was posted, with the query."""
    page: str
    """The page that it was on; empty if it is not known."""
    fields: list[tuple[str, str]]

    @property
    def has_content(self) -> bool:
        """Whether something would be lost."""
        return any(value.strip() for name, value in self.fields if name not in NOT_TYPED)

    def sealed(self) -> str:
        """The form for a page to sign in; empty if it is too large."""
        if sum(len(name) + len(value) for name, value in self.fields) > MOST_CHARACTERS:
            return ""
        text = seal(PURPOSE, asdict(self))
        return text if len(text) <= MOST_CHARACTERS else ""


def posted_form(person_id: str, page: str) -> LostForm:
    """The form of this request."""
    fields = [(name, value) for name, value in request.form.items(multi=True) if name not in NOT_KEPT]
    return LostForm(person_id, request.full_path.rstrip("?"), page, fields)


def unsealed(text: str) -> LostForm | None:
    """A form that was sealed; None if it is too old or not ours."""
    opened = unseal(PURPOSE, text, SECONDS)
    return LostForm(**opened) if opened else None


def new_token(person_id: str) -> str:
    """A secret for the forms on the pages of a new session, which names the person."""
    return f"{person_id} {secrets.token_hex(20)}"


def owner_of_form() -> str | None:
    """On whose page this request's form was; None if the console does not know."""
    person_id, _, rest = _token().partition(" ")
    return person_id if rest else None


def is_of_this_session() -> bool:
    """Whether this request's form was on a page of its session."""
    return _token() == session.get(TOKEN)


def _token() -> str:
    """The token of this request's form; empty if the console has not signed it."""
    try:
        signer = URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt=SALT)
        return str(signer.loads(request.form.get(TOKEN, "")))
    except BadData:
        return ""
