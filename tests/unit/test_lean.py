"""Flask without what this API does not use: which routes are remembered, and which views need no context."""

from flask import has_request_context

from api.http.current_request import app_asked, environ_asked, request_asked
from api.http.lean_flask import Json, LeanFlask


def test_routes_are_remembered_by_their_own_paths_only() -> None:
    """Paths that somebody makes up are without number."""
    app = LeanFlask(__name__)
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = False
    app.add_url_rule("/healthz", endpoint="health", view_func=lambda: "well", methods=["GET"])
    app.add_url_rule("/sends/<name>", endpoint="send", view_func=lambda name: name, methods=["GET"])
    client = app.test_client()
    for _ in range(2):
        for path in ("/healthz", "/healthz/", "//healthz", "///healthz", "/sends/a", "/nowhere"):
            answer = client.get("/", environ_overrides={"PATH_INFO": path})
            assert answer.status_code == (404 if path == "/nowhere" else 200), path
        assert client.post("/healthz").status_code == 405
        assert client.get("/sends/b").text == "b"
    assert list(app.known_routes) == [("GET", "/healthz")]


def test_a_direct_view_is_asked_without_a_context() -> None:
    """And answers as the others do, its errors too; by another path of its own it has Flask's context."""
    app = LeanFlask(__name__)
    app.url_map.strict_slashes = False
    contexts = []

    def view() -> Json | str:
        contexts.append(has_request_context())
        assert app_asked().name == app.name
        asked = request_asked()
        if asked.get_data() == b"wrong":
            raise ValueError(environ_asked()["PATH_INFO"])
        return Json('{"was": "json"}') if asked.mimetype == "application/json" else "text"

    @app.errorhandler(ValueError)
    def wrong(error: ValueError) -> tuple[str, int]:
        return f"{error} is wrong", 400

    app.add_url_rule("/send", view_func=view, methods=["POST"])
    app.direct["POST", "/send"] = view
    client = app.test_client()
    for path in ("/send", "/send/"):
        answer = client.post(path, json={})
        assert (answer.status_code, answer.json, answer.mimetype) == (200, {"was": "json"}, "application/json")
        assert (answer.headers["Cache-Control"], answer.headers["Content-Length"]) == ("no-store", "15")
        assert client.post(path, data="right").text == "text"
        answer = client.post(path, data="wrong")
        assert (answer.status_code, answer.text) == (400, f"{path} is wrong")
    assert client.get("/send").status_code == 405
    assert contexts == [False] * 3 + [True] * 3


def test_an_answer_to_head_has_no_body() -> None:
    app = LeanFlask(__name__)
    app.add_url_rule("/healthz", view_func=lambda: Json("{}"))
    answer = app.test_client().head("/healthz")
    assert (answer.status_code, answer.data, answer.headers["Content-Length"]) == (200, b"", "2")
