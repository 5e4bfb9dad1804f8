"""Whoever changes a send locks its batches in the order of their ids, so two never wait for each other."""

import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine, text

from api.resources.sends.change import apply_changes
from api.resources.sends.control import cancel, pause, resume
from shared.db.connection import transaction
from shared.sends.holding import hold, release
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.times import ahead

BATCHES = text("SELECT id FROM batch WHERE send_id = :send ORDER BY id DESC")
LOCK = text("SELECT FROM batch WHERE id = :id FOR UPDATE NOWAIT")


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
