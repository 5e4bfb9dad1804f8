"""The leases of webhooks: one process posts a webhook's events, and without the lease it changes nothing."""

from datetime import datetime

import pytest
from sqlalchemy import Engine, text

from shared.db.connection import transaction
from tests.harness.deliveries import wait_for_others
from tests.harness.own_database import own_database
from tests.harness.service import Service
from worker.webhooks import store
from worker.webhooks.client import Reply

EXPIRE = text("UPDATE webhook SET lease_until = clock_timestamp() - interval '1 second'")
LENGTHEN = text("UPDATE webhook SET lease_until = lease_until + interval '1 minute'")
NOW = text("SELECT clock_timestamp()")
IS_LEASED = text("SELECT lease_until > :after FROM webhook")


engine = own_database


@pytest.fixture
def service(engine: Engine) -> Service:
    """An account with a webhook and an event for it."""
    made = Service(engine, webhook_loopback=True)
    assert made.post("/webhooks", url="http://127.0.0.1:9/").status_code == 200
    made.send()
    wait_for_others(made)
    return made


def expire(service: Service) -> None:
    service.execute(EXPIRE)


def lengthen(service: Service) -> None:
    """Let the lease last a minute longer."""
    service.execute(LENGTHEN)


def now(service: Service) -> datetime:
    """The time by the clock of the database."""
    with service.engine.connect() as connection:
        moment: datetime = connection.execute(NOW).scalar_one()
        return moment


def is_leased(service: Service, after: datetime) -> bool:
    """Whether the lease ends after that time."""
    return bool(service.scalar(IS_LEASED, after=after))


def test_a_webhook_is_claimed_again_only_when_its_lease_is_over(service: Service) -> None:
    (first,) = store.claim(service.engine, 10)
    lengthen(service)
    assert store.claim(service.engine, 10) == []
    expire(service)
    (second,) = store.claim(service.engine, 10)
    assert (second.id, second.epoch) == (first.id, first.epoch + 1)


@pytest.mark.parametrize("column", ["lease_until", "rest_until"])
def test_a_webhook_does_not_wait_for_a_clock_that_was_set_back(service: Service, column: str) -> None:
    service.execute(f"UPDATE webhook SET {column} = clock_timestamp() + interval '2 hours'")
    (hook,) = store.claim(service.engine, 10)
    assert not hook.rests


def test_a_webhook_rests_for_as_long_as_its_receiver_has_asked(service: Service) -> None:
    service.execute("UPDATE webhook SET rest_until = clock_timestamp() + interval '60 minutes'")
    assert store.claim(service.engine, 10) == []


def test_two_workers_never_claim_the_same_webhook(service: Service) -> None:
    with service.engine.begin() as connection:
        claimed = connection.execute(store.CLAIM, {"limit": 10}).all()
        assert store.claim(service.engine, 10) == [], "it waits for nobody"
    assert len(claimed) == 1


def test_a_worker_that_lost_its_lease_renews_and_releases_nothing(service: Service) -> None:
    (lost,) = store.claim(service.engine, 10)
    expire(service)
    (held,) = store.claim(service.engine, 10)
    lengthen(service)
    store.release(service.engine, lost)
    assert is_leased(service, now(service))
    expire(service)
    ended = now(service)
    store.renew(service.engine, {lost.id: lost.epoch})
    assert not is_leased(service, ended)
    store.renew(service.engine, {held.id: held.epoch})
    assert is_leased(service, ended)


def work_of(service: Service, hook: store.Hook, posted: int) -> store.Work:
    """The webhook's events, of which the first ones were posted."""
    work = store.read_work(service.engine, hook)
    assert len(work.fresh) > posted
    for job in work.fresh[:posted]:
        job.reply = Reply(200, None, 1)
    return work


def test_a_worker_that_lost_its_lease_moves_nothing(service: Service) -> None:
    (lost,) = store.claim(service.engine, 10)
    expire(service)
    (held,) = store.claim(service.engine, 10)
    assert store.record(service.engine, lost, work_of(service, lost, posted=1)) is None
    assert store.record(service.engine, held, work_of(service, held, posted=1)) is not None


def test_events_that_were_not_posted_come_again(service: Service) -> None:
    (hook,) = store.claim(service.engine, 10)
    work = work_of(service, hook, posted=1)
    moved = store.record(service.engine, hook, work)
    assert moved is not None
    left = store.read_work(service.engine, moved).fresh
    assert [job.event_id for job in left] == [job.event_id for job in work.fresh[1:]]


def test_a_refused_event_holds_up_no_new_one(service: Service) -> None:
    """A receiver that refuses one event for good still gets the others, and then the webhook no longer fails."""
    (hook,) = store.claim(service.engine, 10)
    work = work_of(service, hook, posted=0)
    work.fresh[0].reply = Reply(422, "The response was 422.", 1)
    failing = store.record(service.engine, hook, work)
    assert failing is not None
    service.execute("UPDATE delivery SET next_at = now() - interval '1 second' WHERE state = 'pending'")
    page = store.read_work(service.engine, failing)
    assert [len(page.retries), len(page.fresh)] == [1, 1]
    page.retries[0].reply, page.fresh[0].reply = Reply(422, "The response was 422.", 1), Reply(200, None, 1)
    moved = store.record(service.engine, failing, page)
    assert moved is not None
    assert (failing.failures, moved.failures) == (1, 0)


def test_an_event_is_on_disk_before_it_is_posted(service: Service) -> None:
    """Events may be committed asynchronously. They are on disk before they are posted. The server of these tests does
    without, unless it is told."""
    service.execute(f"ALTER DATABASE {service.engine.url.database} SET synchronous_commit = on")
    service.engine.dispose()
    (hook,) = store.claim(service.engine, 10)
    with transaction(service.engine, durable=False) as connection:
        for _ in range(100):
            connection.execute(text("UPDATE webhook SET updated_at = now()"))
        written = connection.execute(text("SELECT pg_current_wal_insert_lsn()")).scalar_one()
    assert store.read_work(service.engine, hook).fresh
    assert service.scalar("SELECT pg_current_wal_flush_lsn() >= CAST(:written AS pg_lsn)", written=written)
