"""The application that a WSGI server runs: `api.wsgi:app`."""

from api.app import create_app
from shared.garbage import collect_less_often
from shared.logs import configure_logging

configure_logging()
app = create_app()
collect_less_often()
