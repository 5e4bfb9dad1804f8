"""Every code that a carrier may tell, or that we keep, has its place in the catalogue."""

import ast
from pathlib import Path

import pytest

import worker
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import code_of, error_of, says_opted_out, unknown_codes, with_code
from shared.carriers.smpp.constants import Status, status_name
from shared.lifecycle import MessageStatus
from worker.carriers.base import Outcome, ResponseKind, status_of, with_catalogue_error

FAILED, UNDELIVERED = MessageStatus.FAILED, MessageStatus.UNDELIVERED


def test_it_works() -> None:
    assert error_of("undelivered", "UNDELIV:042", "one") == {
        "code": "undelivered",
        "permanent": False,
        "carrier": "one",
        "carrier_code": "UNDELIV:042",
        "text": CATALOGUE["undelivered"].meaning,
    }
    assert error_of("delivered", None, "one") is None


@pytest.mark.parametrize(
    ("status", "kept", "code"),
    [
        ("failed", "ESME_RINVDSTADR", "invalid_recipient"),
        ("failed", "ESME_RINVSRCADR", "invalid_sender"),
        ("failed", "ESME_RSYSERR", "carrier_unavailable"),
        ("failed", "ESME_RMSGQFUL", "throttled"),
        ("failed", "ESME_RINVPARLEN", "protocol_error"),
        ("failed", "status_0x00000401", "carrier_error"),
        ("failed", "http_400", "rejected_by_carrier"),
        ("failed", "http_402", "carrier_account"),
        ("failed", "http_503", "no_response"),
        ("failed", "17", "carrier_error"),
        ("failed", "not_in_alphabet", "invalid_message"),
        ("failed", "not_sent", "not_sent"),
        ("failed", None, "carrier_error"),
        ("undelivered", "EXPIRED", "validity_expired"),
        ("undelivered", "REJECTD:011", "rejected_by_carrier"),
        ("undelivered", "expired", "validity_expired"),
        ("undelivered", "failed", "undelivered"),
        ("undelivered", "canceled", "deleted_by_carrier"),
        ("undelivered", "partly_sent", "partly_sent"),
        ("undelivered", "absent_subscriber=UNDELIV:042", "absent_subscriber"),
        ("undelivered", None, "undelivered"),
        ("rejected", "frequency_capped", "frequency_capped"),
        ("in_doubt", None, "no_response"),
        ("in_doubt", "http_500", "no_response"),
        ("expired", None, "expired"),
        ("expired", "no_response", "no_response"),
        ("canceled", None, "canceled"),
        ("sent", "anything", None),
        ("queued", None, None),
    ],
)
def test_each_code_is_mapped_to_an_error(status: str, kept: str | None, code: str | None) -> None:
    assert code_of(status, kept) == code


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.ESME_ROK])
def test_every_status_of_smpp_is_known(status: Status) -> None:
    assert code_of(FAILED, status_name(status)) != "carrier_error"


def test_every_error_that_drivers_and_workers_write_themselves_is_known() -> None:
    written = set()
    for path in Path(worker.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Outcome", "Resolution"):
                values = [keyword.value for keyword in node.keywords if keyword.arg == "error"]
                written |= {str(value.value) for value in values if isinstance(value, ast.Constant)}
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("reject", "_refuse"):
                written |= {str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)}
    never_kept = {"throttled", "not_in_time"}
    assert written >= {"no_response", "suppressed", "frequency_capped", "not_in_alphabet", "invalid_destination"}
    assert {error for error in written - never_kept if code_of(FAILED, error) == "carrier_error"} == set()


def test_a_carriers_own_codes_come_first() -> None:
    codes = {"042": "absent_subscriber", "REJECTD": "content_blocked", "UNDELIV:042": "handset_error"}
    assert with_code("UNDELIV:042", codes) == "handset_error=UNDELIV:042"
    assert with_code("REJECTD:042", codes) == "absent_subscriber=REJECTD:042"
    assert with_code("REJECTD", codes) == "content_blocked=REJECTD"
    assert with_code("EXPIRED:001", codes) == "EXPIRED:001"
    error = error_of(UNDELIVERED, "handset_error=UNDELIV:042", "one")
    assert error is not None
    assert (error["code"], error["carrier_code"]) == ("handset_error", "UNDELIV:042")
    assert unknown_codes({"1": "nonsense", "2": "undelivered"}) == ["nonsense"]


@pytest.mark.parametrize("response", [kind for kind in ResponseKind if kind is not ResponseKind.ACCEPTED], ids=str)
def test_an_answer_that_the_person_has_opted_out_is_final_whatever_else_it_says(response: ResponseKind) -> None:
    codes = {"status_0x00000501": "recipient_opted_out", "7": "recipient_blocked"}
    said = with_catalogue_error(Outcome(response, error="status_0x00000501"), codes)
    assert said == Outcome(ResponseKind.REJECTED, error="recipient_opted_out=status_0x00000501")
    assert status_of(said.response, str(said.error)) == "rejected"
    kept = ResponseKind.REJECTED if response is ResponseKind.FAILED else response
    assert with_catalogue_error(Outcome(response, error="7"), codes).response is kept, "the same would fail again"
    assert not says_opted_out("recipient_blocked=7") and not says_opted_out("7") and not says_opted_out(None)


def test_a_status_that_the_carrier_declares_as_throttling_slows_down() -> None:
    codes = {"status_0x00000401": "throttled"}
    failed = Outcome(ResponseKind.FAILED, error="status_0x00000401")
    assert with_catalogue_error(failed, codes).response is ResponseKind.THROTTLED
    refused = failed._replace(response=ResponseKind.REJECTED)
    assert with_catalogue_error(refused, codes).response is ResponseKind.REJECTED


@pytest.mark.parametrize("response", [ResponseKind.REJECTED, ResponseKind.FAILED])
def test_what_one_carrier_has_no_route_for_may_go_by_another(response: ResponseKind) -> None:
    """Twilio's 21408 is a rejection."""
    said = with_catalogue_error(Outcome(response, error="21408"), {"21408": "no_route"})
    assert said == Outcome(ResponseKind.FAILED, error="no_route=21408")
