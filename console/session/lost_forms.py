"""Forms that were submitted after their session had ended, kept until the person has signed in again.

Each form carries the signed id of the person whose page it was on. What they typed is kept, encrypted, for them, and
is not resubmitted automatically: a form that somebody else has made leads nowhere.
"""

import secrets
from dataclasses import asdict, dataclass

from flask import current_app, request, session
from itsdangerous import BadData, URLSafeSerializer

from console.session.encrypted_forms import seal, unseal
from console.session.shown_again import SHOWN_AGAIN

PAGE_OF = "page_of"
"""The field of a form, and the entry of the session, that name the person of the page."""
PURPOSE = "lost form"
SECONDS = 24 * 3600
"""How long the typed values are kept."""
MOST_CHARACTERS = 32 * 1024
NOT_KEPT = frozenset(
    {"csrf_token", PAGE_OF, SHOWN_AGAIN, "lost", "sealed", "password", "new_password", "code", "secret", "uri"}
)
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
    """Make the forms on a new session's pages carry the id of its person."""
    session[PAGE_OF] = f"{person_id} {secrets.token_hex(20)}"


def page_of() -> str:
    """The signed id of this page's person, for its forms; empty if nobody is signed in."""
    return str(_signer().dumps(session[PAGE_OF])) if PAGE_OF in session else ""


def owner_of_form() -> str | None:
    """On whose page this request's form was; None if the console does not know."""
    person_id, _, rest = _page_of_form().partition(" ")
    return person_id if rest else None


def is_of_this_session() -> bool:
    """Whether this request's form was on a page of its session."""
    return _page_of_form() == session.get(PAGE_OF)


def _page_of_form() -> str:
    """The person that this request's form carries; empty if the console has not signed it."""
    try:
        return str(_signer().loads(request.form.get(PAGE_OF, "")))
    except BadData:
        return ""


def _signer() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt="page of")
