"""How long a bind that failed is left alone."""

from types import SimpleNamespace
from typing import cast

import pytest

from shared.carriers.smpp.constants import Command
from tests.unit.carriers.smpp.making import config
from worker.carriers.smpp import link as module
from worker.carriers.smpp.link import FIRST_WAIT, MAX_WAIT, STEADY, SUSPENDED_WAIT, Link, back_off
from worker.carriers.smpp.session import Lost, Session


@pytest.mark.parametrize(("failures", "most"), [(1, FIRST_WAIT), (2, 1.0), (4, 4.0), (7, MAX_WAIT), (500, MAX_WAIT)])
def test_waits_double_and_are_bounded(failures: int, most: float) -> None:
    waits = [back_off(failures, False) for _ in range(200)]
    assert most / 2 <= min(waits) <= max(waits) <= most


def test_no_two_workers_come_back_at_once() -> None:
    assert len({back_off(3, False) for _ in range(50)}) > 40


def test_refused_credentials_are_left_alone_for_longer() -> None:
    assert min(back_off(1, True) for _ in range(50)) >= SUSPENDED_WAIT


class Connections(Link):
    """A link whose connections all end in the same way. Only they take time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, connecting: float, bound: float | None) -> None:
        self.failures: list[int] = []
        self._now = 0.0
        self._connecting, self._bound = connecting, bound
        monkeypatch.setattr(module, "connect", self._connect)
        monkeypatch.setattr(module, "back_off", self._back_off)
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self._now))
        super().__init__(config(), Command.BIND_TRANSCEIVER, lambda wire: cast(Session, self))

    def _connect(self, *settings: object) -> None:
        self._now += self._connecting

    def bind(self, command: Command) -> None:
        if self._bound is None:
            raise Lost("the carrier did not answer the bind")

    def serve(self) -> None:
        self._now += self._bound or 0.0
        raise Lost("the carrier closed the connection")

    def end(self) -> None:
        """Nothing is open."""

    part = end

    def _back_off(self, failures: int, suspended: bool) -> float:
        self.failures.append(failures)
        if len(self.failures) == 3:
            self._stop.set()
        return 0.0


@pytest.mark.parametrize(
    ("connecting", "bound", "failures"),
    [
        (2 * STEADY, None, [1, 2, 3]),
        (2 * STEADY, STEADY / 2, [1, 2, 3]),
        (STEADY / 2, 2 * STEADY, [1, 1, 1]),
    ],
)
def test_only_a_bind_that_lasts_makes_the_waits_short_again(
    monkeypatch: pytest.MonkeyPatch, connecting: float, bound: float | None, failures: list[int]
) -> None:
    connections = Connections(monkeypatch, connecting, bound)
    connections._run()
    assert connections.failures == failures
