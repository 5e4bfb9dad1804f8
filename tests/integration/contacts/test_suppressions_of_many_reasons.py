"""Files of opt-outs whose reasons differ: short transactions, as readers of events wait for whoever has written."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert, text
from werkzeug.test import TestResponse

from shared.contacts.suppressions import Suppression, suppress, suppress_all, unsuppress
from shared.db.tables.contacts import suppression
from tests.harness.house import wait_until
from tests.harness.service import Service
from tests.harness.statements import statements
from tests.integration.contacts.test_suppressions import import_csv

PHONE, OTHER = "254733000001", "254733000002"
SCOPES = ("", "marketing", "transactional")
WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")


def file_of(rows: int, reasons: int, scopes: int) -> str:
    """A CSV file of this many opt-outs, with so many different reasons and scopes."""
    lines = (f"{254733000000 + row},reason {row % reasons},{SCOPES[row % scopes]}" for row in range(rows))
    return "phone,reason,category\n" + "\n".join(lines)


@pytest.mark.parametrize(("reasons", "scopes"), [(1, 1), (300, 1), (1, 3), (300, 3)])
def test_a_file_takes_one_statement_for_each_table(service: Service, reasons: int, scopes: int) -> None:
    with statements(service.api_engine) as executed:
        assert import_csv(service, file_of(300, reasons, scopes)).json["counts"]["added"] == 300
    assert [statement.split()[2] for statement, _ in executed if statement.startswith("INSERT")] == [
        "suppression",
        "suppression_change",
        "event",
    ]
    assert len({reason for _, reason in stored(service)}) == reasons


@pytest.mark.parametrize("first", ["a", "B"])
def test_of_several_reasons_for_an_opt_out_the_first_in_the_order_of_characters_is_kept(
    service: Service, first: str
) -> None:
    rows = "".join(f"{PHONE},{reason},marketing\n" for reason in (first, "a", "B", "a", "\u00e9"))
    counts = import_csv(service, f"phone,reason,category\n{rows}{PHONE},z,\n").json["counts"]
    assert counts == {"submitted": 6, "added": 2, "unchanged": 2, "duplicate": 2, "invalid": 0}
    assert stored(service) == {(None, "z"), ("marketing", "B")}
    again = import_csv(service, f"phone,reason,category\n{PHONE},A,marketing\n{PHONE},A,\n").json["counts"]
    assert (again["added"], again["unchanged"]) == (0, 2)
    assert stored(service) == {(None, "z"), ("marketing", "B")}


@pytest.mark.parametrize("reasons", [("possible_stop", "carrier", "stop", "their own"), ("stop", "their own", "A")])
def test_the_reason_that_is_hardest_to_undo_is_kept(service: Service, reasons: tuple[str, ...]) -> None:
    """The list's own reasons, which a START or a person's decision removes, give way to a customer's."""
    for reason in reasons:
        assert service.post("/suppressions", phones=[PHONE], reason=reason).status_code == 200
    assert stored(service) == {(None, "their own")}
    assert import_csv(service, f"phone,reason\n{PHONE},carrier\n{PHONE},stop\n").json["counts"]["unchanged"] == 2
    assert stored(service) == {(None, "their own")}
    rows = "".join(f"{OTHER},{reason}\n" for reason in ("stop", "their own", "carrier"))
    assert import_csv(service, f"phone,reason\n{rows}").json["counts"]["added"] == 1
    assert [each["reason"] for each in service.get(f"/suppressions?phone={OTHER}").json["data"]] == ["their own"]


def test_a_file_adds_its_phones_in_their_order_so_that_two_do_not_deadlock(service: Service) -> None:
    def add(phone: str) -> None:
        values = {"account_id": service.account_id, "phone": int(phone), "reason": "theirs"}
        process.execute(insert(suppression).values(values))

    def request() -> TestResponse:
        return import_csv(service, f"phone,reason\n{OTHER},a\n{PHONE},b\n")

    with ThreadPoolExecutor(1) as threads, service.engine.connect() as process, service.engine.connect() as observer:
        observer = observer.execution_options(isolation_level="AUTOCOMMIT")
        add(PHONE)
        pending = threads.submit(request)
        wait_until(lambda: pending.done() or bool(observer.execute(WAITING).scalar_one()), 60, "the request")
        add(OTHER)
        process.commit()
        assert pending.result(120).json["counts"]["unchanged"] == 2


def test_an_opt_out_that_is_on_the_list_already_is_not_locked(service: Service) -> None:
    """Files are often uploaded again, and what networks say of the same phones would wait."""
    given = [Suppression(int(PHONE), "", "", reason) for reason in ("their own", "stop")]
    locked = text("SELECT reason FROM suppression WHERE account_id = :account FOR UPDATE NOWAIT")
    with service.engine.begin() as connection:
        for account in (service.new_account("Other"), service.account_id):
            assert suppress_all(connection, account, given) == 1
    with service.engine.begin() as connection, service.engine.begin() as other:
        assert suppress_all(connection, service.account_id, given) == 0
        assert other.execute(locked, {"account": service.account_id}).scalar_one() == "their own"


def test_an_opt_out_counts_after_one_that_is_being_removed(service: Service) -> None:
    def again() -> bool:
        with service.engine.begin() as connection:
            return suppress(connection, service.account_id, PHONE, "stop")

    assert again()
    with ThreadPoolExecutor(1) as threads, service.engine.connect() as process, service.engine.connect() as observer:
        observer = observer.execution_options(isolation_level="AUTOCOMMIT")
        assert unsuppress(process, service.account_id, PHONE) == 1
        pending = threads.submit(again)
        wait_until(lambda: pending.done() or bool(observer.execute(WAITING).scalar_one()), 60, "the opt-out")
        process.commit()
        assert pending.result(120)
    assert stored(service) == {(None, "stop")}


def stored(service: Service) -> set[tuple[str | None, str]]:
    """The category and the reason of each opt-out of the account."""
    return {(each["category"], each["reason"]) for each in service.get("/suppressions?limit=1000").json["data"]}
