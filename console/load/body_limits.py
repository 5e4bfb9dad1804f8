"""How large a form may be: small, except for lists and files of people who are signed in."""

from flask import Flask, request, session

from console.session.current import SESSION_TOKEN

SMALL_BYTES = 64 * 1024
FORM_BYTES = 24 * 1024 * 1024
"""Largest form without its files: a list of 100,000 recipients with their values fits."""
FILE_BYTES = 52 * 1024 * 1024
"""Largest body: a file of a message fits with the one that it replaces, 20 MB each. Waitress keeps as much of any
request, a stranger's too, in a temporary file before the application sees it: it has one limit for all paths."""
LISTS = frozenset(
    {
        "compose.write",
        "compose.quote",
        "compose.confirm",
        "compose.send",
        "groups.add_contacts",
        "groups.import_file",
        "operator.doubts.report",
        "operator.prices.load",
        "opt_outs.create",
        "opt_outs.import_file",
    }
)
"""Endpoints of forms with a list or a file."""


def limit_bodies(app: Flask) -> None:
    """Refuse larger bodies with 413. Call it before any check that reads forms."""
    app.config.update(MAX_CONTENT_LENGTH=SMALL_BYTES, MAX_FORM_MEMORY_SIZE=SMALL_BYTES)

    @app.before_request
    def allow_lists() -> None:
        if request.endpoint in LISTS and session.get(SESSION_TOKEN):
            request.max_content_length = FILE_BYTES
            request.max_form_memory_size = FORM_BYTES
