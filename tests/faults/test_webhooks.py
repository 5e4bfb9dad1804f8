"""A webhook's endpoint fails in every way. Others hear in time, and it hears all when it is well again."""

import time
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from tests.faults.ground import Fault
from tests.harness.house import wait_until
from tests.harness.receiver import Post, receiver


@pytest.mark.parametrize("settings", [{"WEBHOOK_LOOPBACK": "1"}])
def test_the_endpoint_fails(fault: Fault) -> None:
    house, posts = fault.house, count()
    house.start_webhooks()
    house.new_account("well")
    well = house.token
    with receiver() as good, receiver() as bad:

        def fail(post: Post) -> int | tuple[int, dict[str, str]]:
            match next(posts) % 4:
                case 0:
                    return 500
                case 1:
                    return 302, {"Location": good.url}
                case 2:
                    time.sleep(17)
                    return 204  # too late
                case _:
                    return 429, {"Retry-After": "1"}

        bad.respond = fail
        house.post("/webhooks", url=good.url)
        with fault.workload(progress=False):
            made = house.post("/webhooks", url=bad.url)
            wait_until(lambda: len(bad.posts) >= 4, 120, "the posts")
            house.token, mine = well, house.token
            sent = house.post("/sms/send", sender_id="ACME", phone="254799000000", message="Hi")
            fault.sends[sent["send_id"]] = 1
            wait_until(lambda: len(good.posts) >= 3, 60, "the posts to whoever is well")
            house.token = mine
            bad.respond = lambda post: 204
        fault.check()
        house.token = fault.traffic.token
        since = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
        house.post(f"/webhooks/{made['webhook_id']}/recover", since=since)
        cursor, events = "", set()
        while cursor is not None:
            page = house.get(f"/events?limit=1000{cursor}")
            events |= {event["event_id"] for event in page["data"]}
            cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
        wait_until(lambda: events <= set(bad.ids()), 120, "every event")
        assert all(post.payload["data"].get("phone") in (None, "254799000000") for post in good.posts)
