"""Forms that were submitted after their session had ended, kept until the person has signed in again.

The CSRF token of a form names the person whose page it was on. What they typed is kept, encrypted, for them, and is not
resubmitted automatically: a form that somebody else has made leads nowhere.
"""

from dataclasses import asdict, dataclass

from flask import current_app, request, session
from itsdangerous import BadData, URLSafeTimedSerializer

from console.session.encrypted_forms import seal, unseal
from console.session.shown_again import SHOWN_AGAIN

CSRF = "csrf_token"
"""The field of a form, and the entry of the session, by which Flask-WTF knows that the form is of this session."""
PERSON = "person "
"""How the entry begins when somebody is signed in; their id follows."""
PURPOSE = "lost form"
SECONDS = 24 * 3600
"""How long the typed values are kept."""
MOST_CHARACTERS = 32 * 1024
NOT_KEPT = frozenset({CSRF, SHOWN_AGAIN, "lost", "sealed", "password", "new_password", "code", "secret", "uri"})
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
        """Whether anything that was typed would be lost."""
        return any(value.strip() for name, value in self.fields if name not in NOT_TYPED)

    def sealed(self) -> str:
        """The form, sealed for the sign-in page; empty if it is too large."""
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


def name_person(person_id: str) -> None:
    """Make the forms on a new session's pages name its person: they are valid in all sessions of this person."""
    session[CSRF] = PERSON + person_id


def person_of_form() -> str | None:
    """On whose page this request's form was; None if nobody was signed in there, or its token is not ours."""
    signer = URLSafeTimedSerializer(current_app.config["SECRET_KEY"], salt="wtf-csrf-token")
    try:
        named = str(signer.loads(request.form.get(CSRF, "")))
    except BadData:
        return None
    return named.removeprefix(PERSON) if named.startswith(PERSON) else None
