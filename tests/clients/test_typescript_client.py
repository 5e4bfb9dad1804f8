"""The TypeScript client when responses are lost."""

import json
import shutil
import subprocess

import pytest

from clients.making.files import ROOT
from tests.clients.scripted import Reply, Scripted, problem

NODE = shutil.which("node")
SCRIPT = """
import { Client } from %(module)s;
const client = new Client({ url: %(url)s, apiKey: "key", apiSecret: "secret", tries: 2 });
try {
  console.log(JSON.stringify(await client.%(call)s));
} catch (error) {
  console.log(JSON.stringify(String(error)));
}
"""
SEND = 'sendMessage({ body: {}, key: "order-7" })'
LINK = 'signInByLink({ body: { token: "once" } })'
UNAVAILABLE: Reply = (503, problem("unavailable", retryable=True), {})

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def call(url: str, call: str) -> str:
    """What a call of the client returns, or why it fails."""
    assert NODE is not None
    script = SCRIPT % {
        "module": json.dumps((ROOT / "typescript" / "index.js").as_uri()),
        "url": json.dumps(url),
        "call": call,
    }
    ran = subprocess.run(
        [NODE, "--input-type=module", "--eval", script], capture_output=True, text=True, timeout=120, check=True
    )
    return ran.stdout.strip()


def address(service: Scripted) -> str:
    return f"http://127.0.0.1:{service.server.server_port}"


@pytest.mark.parametrize("lost", [None, UNAVAILABLE])
def test_a_send_is_requested_again_with_the_same_key(service: Scripted, lost: Reply) -> None:
    service.replies = [lost, (200, {"a": 1}, {})]
    assert call(address(service), SEND) == '{"a":1}'
    assert service.keys() == {"order-7"}


@pytest.mark.parametrize(("lost", "reason"), [(None, "fetch failed"), (UNAVAILABLE, "503 unavailable")])
def test_a_link_that_may_have_been_used_is_not_sent_again(service: Scripted, lost: Reply, reason: str) -> None:
    service.replies = [lost, (401, problem("invalid_link"), {})]
    assert reason in call(address(service), LINK)
    assert len(service.requests) == 1


def test_a_link_that_was_refused_for_now_is_sent_again(service: Scripted) -> None:
    service.replies = [(429, problem("rate_limited"), {}), (200, {"a": 1}, {})]
    assert call(address(service), LINK) == '{"a":1}'
