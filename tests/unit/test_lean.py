"""Flask without what this API does not use: which routes are remembered."""

from api.lean import LeanFlask


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
