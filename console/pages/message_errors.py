"""Why a message was not delivered, or is in doubt: the service's catalogue of errors in the reader's language."""

from flask_babel import gettext

from console.pages.formats import status_label
from shared.carriers.error_catalogue import CATALOGUE, MessageError


def explained(code: str) -> MessageError:
    """What a code of a message's error means; of a status, its word."""
    known = CATALOGUE.get(code) or MessageError(False, status_label(code), "", "")
    texts = (gettext(text) if text else "" for text in (known.title, known.meaning, known.remediation))
    return MessageError(known.permanent, *texts)
