"""Endpoints in Flask: the request that they see, and what becomes of their responses."""

from collections.abc import Iterator

import flask
import pytest
from flask.testing import FlaskClient

from api.http.flask_adapter import RequestMiddleware, flask_view
from api.http.request import current_request
from api.http.responses import CsvResponse, JsonResponse, Response


@pytest.fixture
def client() -> FlaskClient:
    """An application with two endpoints."""

    def one(name: str) -> Response:
        request = current_request()
        request.rate_limit = (9, 8)
        return JsonResponse(f'{{"{name}": "{request.services}"}}', 201, [("X-A", "b")])

    def table() -> CsvResponse:
        def lines() -> Iterator[str]:
            yield from ("a\n", "\u00e9\n")

        return CsvResponse(lines(), "table.csv")

    app = flask.Flask(__name__)
    app.add_url_rule("/one/<name>", view_func=flask_view(one))
    app.add_url_rule("/table", view_func=flask_view(table))
    app.wsgi_app = RequestMiddleware(app.wsgi_app, "what they work with", 100)  # type: ignore[method-assign]
    return app.test_client()


def test_a_response_has_its_own_headers_and_those_of_every_response(client: FlaskClient) -> None:
    response = client.get("/one/a", headers={"X-Request-Id": "mine"})
    assert (response.status_code, response.json) == (201, {"a": "what they work with"})
    assert response.headers.getlist("Content-Type") == ["application/json"]
    assert response.headers.getlist("Content-Length") == ["28"]
    assert (response.headers["X-A"], response.headers["X-Request-Id"]) == ("b", "mine")
    assert response.headers["RateLimit"] == '"requests";r=8;t=1'


def test_csv_is_streamed_as_utf_8(client: FlaskClient) -> None:
    response = client.get("/table")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8" and "Content-Length" not in response.headers
    assert response.headers["Content-Disposition"] == 'attachment; filename="table.csv"'
    assert response.data == "a\n\u00e9\n".encode()
