"""`bulksms smpp`: a credential from its making to its end."""

import json
from collections.abc import Callable
from uuid import uuid4

from click.testing import Result


def test_a_credential(run: Callable[..., Result]) -> None:
    acme, name = run("account", "create", f"account {uuid4()}").stdout.strip(), f"s{uuid4().hex[:14]}"
    first = json.loads(run("smpp", "create", acme, name, "--allow", "192.0.2.0/24", "--json").stdout)
    run("smpp", "change", name, "--anywhere", "--window", 100, "--alphabet", "utf8")
    [shown] = json.loads(run("smpp", "list", acme, "--json").stdout)
    assert (shown["networks"], shown["window_size"], shown["max_binds"], shown["alphabet"]) == (None, 100, 2, "utf8")
    assert shown["binds"] == []
    assert name in run("smpp", "list", acme).stdout
    run("smpp", "replay", name, "--since", "2026-01-01T09:00:00Z")
    assert json.loads(run("smpp", "rotate", name, "--json").stdout)["password"] != first["password"]
    assert "Name what to change" in run("smpp", "change", name, code=2).stderr
    run("smpp", "revoke", name)
    assert json.loads(run("smpp", "list", acme, "--json").stdout)[0]["revoked_at"]
    for command in (("change", name, "--window", 5), ("replay", name, "--since", "2026-01-01"), ("rotate", name)):
        assert "There is no SMPP credential" in run("smpp", *command, code=1).stderr
