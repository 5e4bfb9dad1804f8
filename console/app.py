"""Creates the console's Flask application."""

from typing import Any

from flask import Flask, g
from werkzeug.middleware.proxy_fix import ProxyFix

from console.load.body_limits import limit_bodies
from console.load.fair_share import share_fairly
from console.load.requests_counted import count_requests
from console.pages.amounts import add_amounts
from console.pages.changes import in_words
from console.pages.charts import chart_data
from console.pages.errors import add_error_pages
from console.pages.formats import add_formats
from console.pages.forms import new_key
from console.pages.languages import add_languages
from console.pages.message_errors import explained
from console.pages.navigation import navigation
from console.pages.paging import page_at
from console.pages.security import secure
from console.pages.static_files import add_versions
from console.session import current
from console.session.before_sign_in import sign_in_methods
from console.settings import Settings
from console.views import ACCOUNT_PAGES, PAGES

ACCOUNT = "/accounts/<account_id>/<any(live, test):world>"
"""The URL prefix of an account's pages."""


def create_app(settings: Settings) -> Flask:
    """Create the console for one service."""
    app = Flask(__name__)
    app.config.update(SECRET_KEY=settings.secret_key, CONSOLE_URL=settings.url, UNIT=settings.unit)
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    connect_to_api(app, settings.api_url)
    if settings.proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=settings.proxies, x_proto=settings.proxies)  # type: ignore[method-assign]
    count_requests(app)
    limit_bodies(app)
    share_fairly(app)
    secure(app, settings.secure)
    add_versions(app)
    add_languages(app)
    add_formats(app)
    add_amounts(app)
    add_error_pages(app)
    for pages in PAGES:
        app.register_blueprint(pages)
    for pages in ACCOUNT_PAGES:
        app.register_blueprint(pages, url_prefix=ACCOUNT + (pages.url_prefix or ""))
    app.jinja_env.filters.update(explained=explained, change_in_words=in_words)
    app.jinja_env.globals.update(
        currency=settings.unit.currency, new_key=new_key, page_at=page_at, sign_in_methods=sign_in_methods
    )
    _know_the_account(app)
    return app


def connect_to_api(app: Flask, api_url: str) -> None:
    """Connect the application to the API at `api_url`, in place of an earlier one."""
    app.extensions["bulksms_api"] = current.Api(api_url)


def _know_the_account(app: Flask) -> None:
    """Take the account and the world from the path, and add them to links."""

    @app.url_value_preprocessor
    def keep(endpoint: str | None, values: dict[str, Any] | None) -> None:
        if values and "world" in values:
            g.account_id, g.world = values.pop("account_id"), values.pop("world")

    @app.url_defaults
    def add(endpoint: str, values: dict[str, Any]) -> None:
        if "world" in g and app.url_map.is_endpoint_expecting(endpoint, "world"):
            values.setdefault("account_id", g.account_id)
            values.setdefault("world", g.world)

    @app.context_processor
    def names() -> dict[str, Any]:
        return {
            "me": current.maybe_person(),
            "may": current.may,
            "world": g.get("world"),
            "account_id": g.get("account_id"),
            "account_name": current.account_name,
            "navigation": navigation,
            "chart_data": chart_data,
            "is_part": current.is_part(),
        }
