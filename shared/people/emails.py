"""E-mail addresses of people: ASCII only, so that no look-alike letter passes for another, and in lower case."""

import re

MAX_EMAIL_LENGTH = 254
"""Characters: the longest path of SMTP (RFC 5321 §4.5.3.1.3) without its brackets."""
FORM = re.compile(r"[0-9A-Za-z.!#$%&'*+/=?^_`{|}~-]{1,64}@[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)+", re.ASCII)
"""What browsers take for an address (the HTML standard, "valid e-mail address"), with a dot in the domain."""


def normalized_email(given: str) -> str | None:
    """The address in lower case and without surrounding spaces; None if it is not one."""
    email = given.strip()
    return email.lower() if len(email) <= MAX_EMAIL_LENGTH and FORM.fullmatch(email) else None
