"""The ASGI application that each API process runs."""

import sys
from uuid import uuid4

from api.app import create_app
from api.database_guard import keep_checking
from api.handlers import direct_endpoint
from api.server.application import Application, Owners
from api.server.exchange import Observed
from shared.gc_tuning import collect_less_often
from shared.guard import Guard
from shared.observability import traces
from shared.settings import SettingsError


def make_application() -> Observed:
    """Make the application and start its threads, in the process that is to serve it. Exits if a setting is wrong."""
    try:
        traces.start_traces("api")
        flask_app = create_app()
    except SettingsError as error:
        sys.exit(str(error))
    services = flask_app.extensions["bulksms"]
    on_loop = direct_endpoint("POST", "/sms/send", services)
    application = Application(flask_app.wsgi_app, on_loop, Owners(services), services.settings.database_pool)
    keep_checking(Guard(services.engine, witness=services.commits.witness, api=str(uuid4())))
    collect_less_often()
    return Observed(application)
