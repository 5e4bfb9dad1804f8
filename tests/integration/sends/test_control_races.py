"""A send is changed while others work on it: two never wait for each other, and no batch is left behind.

Batches are locked in the order of their ids.
"""

import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine, text

from api.resources.sends.change import apply_changes
from api.resources.sends.control import cancel, pause, resume
from shared.audit.check import audit
from shared.db.connection import transaction
from shared.sends.holding import HeldBy, hold, hold_for_operator, hold_sends, release
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.sql import Database
from tests.harness.times import ahead
from worker.sending.claim import claim
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.next_batches import ClaimRequest
from worker.sending.results import fence
from worker.sending.settle_rest import close_intents, settlement_of

BATCHES = text("SELECT id FROM batch WHERE send_id = :send ORDER BY id DESC")
LOCK = text("SELECT FROM batch WHERE id = :id FOR UPDATE NOWAIT")
DUE = (
    text("UPDATE send SET state = 'queued', send_at = NULL WHERE id = :send"),
    text("UPDATE batch SET state = 'queued', due_at = clock_timestamp() WHERE send_id = :send"),
)
STATES = text("SELECT s.state, b.state FROM send s JOIN batch b ON b.send_id = s.id WHERE s.id = :send")


@pytest.mark.parametrize(
    ("before", "action"),
    [
        (None, pause),
        (pause, resume),
        (None, cancel),
        (None, lambda connection, send: apply_changes(connection, send, {"rate": 7})),
        (None, lambda connection, send: hold(connection, send, "x")),
        (lambda connection, send: hold(connection, send, "x"), release),
    ],
    ids=["pause", "resume", "cancel", "change", "hold", "release"],
)
def test_batches_are_locked_in_the_order_of_their_ids(
    engine: Engine, before: Callable[[Connection, UUID], object] | None, action: Callable[[Connection, UUID], object]
) -> None:
    service = Service(engine, credits=20_000)
    phones = [str(254_711_000_000 + number) for number in range(5_000)]
    send = UUID(service.bulk(phones, send_at=ahead()).json["send_id"])
    with engine.begin() as connection:
        ids = connection.execute(BATCHES, {"send": send}).scalars().all()
        for id in ids:  # the rows lie in the opposite order
            connection.execute(
                text("UPDATE batch SET turn = turn + 1, due_at = due_at + interval '1 second' WHERE id = :id"),
                {"id": id},
            )
        if before is not None:
            before(connection, send)

    def act() -> None:
        with transaction(engine) as connection:
            action(connection, send)

    acting = threading.Thread(target=act)
    with engine.begin() as connection:
        connection.execute(LOCK, {"id": ids[-1]})
        acting.start()
        wait_until_somebody_waits(engine)
        with engine.begin() as other:
            for id in ids[:-1]:
                other.execute(LOCK, {"id": id})
    acting.join()


def in_a_cycle(service: Service) -> tuple[UUID, ClaimedBatch]:
    """A send of two messages, and its only batch, which a worker has claimed."""
    send = UUID(service.bulk(["254711000001", "254711000002"], send_at=ahead()).json["send_id"])
    for change in DUE:
        service.execute(change, send=send)
    [batch] = claim(service.engine, ClaimRequest(budget=1000, window_size=100, lease=60))
    return send, batch


def hold_by_rule(connection: Connection, send: UUID) -> None:
    connection.execute(text("UPDATE send SET rules = '{\"canary\": 1}' WHERE id = :send"), {"send": send})
    hold_sends(connection, [send], "canary", "x")


@pytest.mark.parametrize(
    ("stop", "go_on"),
    [(pause, resume), (lambda connection, send: hold(connection, send, "x"), release), (hold_by_rule, resume)],
    ids=["resume", "release", "release_from_rule"],
)
def test_a_send_goes_on_while_a_cycle_of_it_ends(
    engine: Engine, stop: Callable[[Connection, UUID], object], go_on: Callable[[Connection, UUID], object]
) -> None:
    """The end of the cycle has found the send stopped, but is not committed yet."""
    service = Service(engine)
    send, batch = in_a_cycle(service)
    with transaction(engine) as connection:
        stop(connection, send)

    def act() -> None:
        with transaction(engine) as connection:
            go_on(connection, send)

    acting = threading.Thread(target=act)
    with transaction(engine) as connection:
        fence(connection, [batch])
        close_intents(connection, [settlement_of(batch, wait=0.0)], counted={})
        acting.start()
        wait_until_somebody_waits(engine)
    acting.join()
    assert tuple(Database(engine).row(STATES, send=send)) == ("queued", "queued")
    assert audit(engine, full=True) == []
    service.sweep()
    assert service.counts(str(send))["sent"] == 2


@pytest.mark.parametrize("by", ["operator", "crashes"])
@pytest.mark.parametrize("is_over", [True, False], ids=["the cycle ends before", "the cycle ends after"])
def test_a_send_that_was_paused_during_a_cycle_stays_paused_after_a_hold(
    engine: Engine, by: HeldBy, is_over: bool
) -> None:
    """No batch of it is paused when it is held, nor when it is released if its cycle goes on."""
    service = Service(engine)
    send, batch = in_a_cycle(service)

    def end_cycle() -> None:
        with transaction(engine) as connection:
            fence(connection, [batch])
            close_intents(connection, [settlement_of(batch, wait=0.0)], counted={})

    with transaction(engine) as connection:
        pause(connection, send)
    with transaction(engine) as connection:
        hold_for_operator(connection, send, by, "x")
    if is_over:
        end_cycle()
    with transaction(engine) as connection:
        release(connection, send)
    if not is_over:
        end_cycle()
    assert tuple(Database(engine).row(STATES, send=send)) == ("paused", "paused")
    service.sweep()
    assert "sent" not in service.counts(str(send))
    assert audit(engine, full=True) == []
    service.post(f"/sends/{send}/resume")
    service.sweep()
    assert service.counts(str(send))["sent"] == 2
