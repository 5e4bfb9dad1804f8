"""The TypeScript client when responses are lost."""

import json
import shutil
import subprocess

import pytest

from clients.making.files import ROOT
from tests.clients.scripted import BUSY, FOREIGN, Foreign, Reply, Scripted, problem

NODE = shutil.which("node")
SCRIPT = """
import { Client } from %(module)s;
const client = new Client({ url: %(url)s, apiKey: "key", apiSecret: "secret", tries: 2 });
const all = async (pages) => {
  const found = [];
  for await (const each of pages) if (found.push(each) === 9) break;
  return found;
};
try {
  console.log(JSON.stringify(await %(call)s));
} catch (error) {
  console.log(JSON.stringify(String(error)));
}
"""
SEND = 'client.sendMessage({ body: {}, key: "order-7" })'
DELETE = 'client.deleteGroup({ path: { group_id: "g" } })'
LINK = 'client.signInByLink({ body: { token: "once" } })'
UNAVAILABLE: Reply = (503, problem("unavailable", retryable=True), {})

pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="node is not installed")]


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


@pytest.mark.parametrize("lost", [None, UNAVAILABLE])
def test_a_send_is_requested_again_with_the_same_key(service: Scripted, lost: Reply) -> None:
    service.replies = [lost, (200, {"a": 1}, {})]
    assert call(service.url, SEND) == '{"a":1}'
    assert service.keys() == {"order-7"}


@pytest.mark.parametrize(("lost", "reason"), [(None, "fetch failed"), (UNAVAILABLE, "503 unavailable")])
def test_a_link_that_may_have_been_used_is_not_sent_again(service: Scripted, lost: Reply, reason: str) -> None:
    service.replies = [lost, (401, problem("invalid_link"), {})]
    assert reason in call(service.url, LINK)
    assert len(service.requests) == 1


@pytest.mark.parametrize("operation", [SEND, LINK], ids=["send", "link"])
def test_a_limit_that_lasts_is_reported_at_once(service: Scripted, operation: str) -> None:
    service.replies = [(429, problem("rate_limited", retryable=True), {"Retry-After": "31"}), (200, {"a": 1}, {})]
    assert "ApiError: 429 rate_limited" in call(service.url, operation)
    assert len(service.requests) == 1


@pytest.mark.parametrize("operation", [SEND, DELETE], ids=["send", "delete"])
@pytest.mark.parametrize("reply", FOREIGN.values(), ids=FOREIGN)
def test_a_response_that_is_not_the_api_s_is_no_success(service: Scripted, reply: Foreign, operation: str) -> None:
    service.replies = [reply, (200, {"a": 1}, {})]
    response = call(service.url, operation)
    assert f"ApiError: {reply[0]} unknown" in response
    assert reply[2].get("Location", "") in response
    assert len(service.requests) == 1


@pytest.mark.parametrize("reply", BUSY.values(), ids=BUSY)
def test_a_proxy_without_the_api_is_tried_again(service: Scripted, reply: Foreign) -> None:
    service.replies = [reply, reply]
    assert f"ApiError: {reply[0]} unknown" in call(service.url, SEND)
    assert len(service.requests) == 2


def test_a_list_ends_at_a_page_without_a_cursor(service: Scripted) -> None:
    service.replies = [(200, {"data": [{"code": "a"}]}, {})] * 9
    assert call(service.url, 'all(client.pages("listErrors"))') == '[{"code":"a"}]'


@pytest.mark.parametrize("lost", [None, UNAVAILABLE])
def test_a_delete_whose_response_was_lost_has_worked(service: Scripted, lost: Reply) -> None:
    service.replies = [lost, (404, problem("group_not_found"), {})]
    assert call(service.url, DELETE) == "{}"


def test_a_delete_has_worked_if_the_token_ended_after_the_lost_response(service: Scripted) -> None:
    service.replies = [None, (401, problem("token_expired"), {}), (404, problem("group_not_found"), {})]
    assert call(service.url, DELETE) == "{}"
    assert (len(service.requests), service.tokens) == (3, 2)


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([(404, problem("group_not_found"), {})], "404 group_not_found"),
        ([(401, problem("token_expired"), {}), (404, problem("group_not_found"), {})], "404 group_not_found"),
        ([(429, problem("rate_limited"), {}), (404, problem("group_not_found"), {})], "404 group_not_found"),
        ([None, (404, b"<html>", {})], "404 unknown"),
        ([None, (404, problem("not_found"), {})], "404 not_found"),
    ],
)
def test_a_delete_that_was_never_done_is_not_found(service: Scripted, replies: list[Reply], reason: str) -> None:
    service.replies = replies
    assert reason in call(service.url, DELETE)


ENDED_IN_A_PAUSE = """(() => {
  const ended = new AbortController();
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (act, milliseconds) =>
    milliseconds >= 30_000 && milliseconds < 40_000
      ? queueMicrotask(() => ended.abort("ended"))
      : later(act, milliseconds);
  return client.sendMessage({ body: {}, signal: ended.signal }).catch((reason) => reason);
})()"""


def test_a_signal_ends_the_pause_between_two_tries(service: Scripted) -> None:
    service.replies = [(503, problem("unavailable", retryable=True), {"Retry-After": "30"})]
    assert call(service.url, ENDED_IN_A_PAUSE) == '"ended"'
    assert len(service.requests) == 1


IMPOSSIBLE = """(async () => {
  const fetched = globalThis.fetch;
  let fetches = 0;
  globalThis.fetch = (...given) => { fetches += 1; return fetched(...given); };
  const error = await client.sendMessage({ body: {}, key: "a\\nb" }).catch((error) => error);
  return [error.name, fetches];
})()"""


def test_what_can_never_be_sent_is_not_tried_again(service: Scripted) -> None:
    assert call(service.url, IMPOSSIBLE) == '["TypeError",1]', "only the token was fetched"
