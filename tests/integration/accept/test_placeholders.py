"""Messages with placeholders: what each recipient gets, and what it costs."""

import itertools
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from werkzeug.test import TestResponse

from api.accept.group_scan import scan_group
from shared.audit.check import audit
from shared.contacts.groups import Contact, put_contacts
from shared.sends.templates import Composed, compose, parse
from shared.sms.segments import segment
from tests.harness.service import PREFIX, Service
from tests.harness.times import ahead
from worker.carriers.base import MessageGroup, Outcome
from worker.jobs import expand as expansion
from worker.jobs.expand import expand

A, B, C, D = (str(254711000001 + number) for number in range(4))
LONG = "x" * 200


@pytest.fixture
def service(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The service, its carrier remembering what it was given."""
    submit = service.worker.simulator.submit

    def remember(message_groups: list[MessageGroup]) -> list[Outcome]:
        for message_group in message_groups:
            given_texts.extend(
                (phone, message_group.text, message_group.encoding, message_group.segments)
                for phone in message_group.phones
            )
        return submit(message_groups)

    given_texts.clear()
    monkeypatch.setattr(service.worker.simulator, "submit", remember)
    yield service
    service.deliver_receipts()
    assert audit(service.engine, full=True) == []


given_texts: list[tuple[str, str, str, int]] = []


def texts() -> dict[str, str]:
    return {phone: message for phone, message, _, _ in given_texts}


def to(phone: str, **variables: str) -> dict[str, Any]:
    return {"phone": phone, "variables": variables}


def group_of(service: Service, contacts: dict[str, dict[str, str] | None]) -> str:
    group = service.new_group([])
    put(service, group, [Contact(int(phone), fields) for phone, fields in contacts.items()])
    return group


def put(service: Service, group: str, contacts: list[Contact]) -> None:
    service.transact(put_contacts, UUID(group), contacts)


def send_group(service: Service, group: str, message: str, **more: Any) -> TestResponse:
    return service.post("/sms/send-group", sender_id="ACME", group_id=group, message=message, **more)


def balance(service: Service) -> tuple[int, int]:
    shown = service.get("/balance").json
    return shown["balance"], shown["reserved"]


def test_it_works(service: Service) -> None:
    response = service.bulk([to(A, name="Ann"), to(B, name="Zoë 😀"), to(C, name=LONG), D], "Hi {{name|friend}}!")
    assert response.status_code == 200, response.json
    assert response.json["segments"] == {"per_message": None, "encoding": "ucs2", "total": 5}
    assert (response.json["cost"], response.json["balance"]) == (5, 995)
    assert [message["phone"] for message in response.json["messages"]] == [A, B, C, D]
    assert texts() == {A: "Hi Ann!", B: "Hi Zoë 😀!", C: f"Hi {LONG}!", D: "Hi friend!"}
    assert {(phone, encoding, count) for phone, _, encoding, count in given_texts} == {
        (A, "gsm7", 1),
        (B, "ucs2", 1),
        (C, "gsm7", 2),
        (D, "gsm7", 1),
    }
    service.deliver_receipts()
    send = service.get(f"/sends/{response.json['send_id']}").json
    assert (send["cost"], send["charged"], send["segments"]["total"]) == (5, 5, 5)
    assert balance(service) == (995, 0)
    shown = service.get(f"/sends/{response.json['send_id']}/messages").json["data"]
    assert {message["phone"]: message["cost"] for message in shown} == {A: 1, B: 1, C: 2, D: 1}
    for message in response.json["messages"]:
        assert service.get(f"/messages/{message['message_id']}").json["phone"] == message["phone"]


@pytest.mark.parametrize(
    ("message", "variables", "pointer", "code"),
    [
        ("Hi {{name}}", None, "/variables/name", "missing_variable"),
        ("Hi {{name}}", {"Name": "x"}, "/variables/name", "missing_variable"),
        ("{{name}}", {"name": " "}, "/message", "message_empty"),
        ("{{name}}{{name}}", {"name": "x" * 801}, "/message", "message_too_long"),
        ("Hi", {"name": "a\u0007"}, "/variables/name", "invalid"),
        ("Hi", {"name": "x" * 1601}, "/variables/name", "invalid"),
        ("Hi", {"name": 5}, "/variables/name", "wrong_type"),
        ("Hi", ["name"], "/variables", "wrong_type"),
        ("".join(f"{{{{a{n}}}}}" for n in range(11)), {}, "/message", "too_many_variables"),
    ],
)
def test_mistakes_in_a_single_send_are_reported(
    service: Service, message: str, variables: Any, pointer: str, code: str
) -> None:
    more = {} if variables is None else {"variables": variables}
    for path in ("/sms/send", "/sms/quote"):
        response = service.post(path, sender_id="ACME", phone=A, message=message, **more)
        assert (response.status_code, response.json["code"]) == (400, "validation_failed"), response.json
        assert [(error["pointer"], error["code"]) for error in response.json["errors"]] == [(pointer, code)]
    assert balance(service) == (1000, 0)


def test_a_value_is_no_longer_than_a_message(service: Service) -> None:
    """Whether the message has its placeholder or not."""
    longest, longer = to(A, unused="x" * 1600), to(B, unused="x" * 1601)
    response = service.bulk([longest, longer, to(C, name="Ann")], "Hi {{name|you}}").json
    assert (response["counts"]["accepted"], [each["code"] for each in response["rejected"]]) == (2, ["invalid"])
    assert service.send(A, variables=longest["variables"]).status_code == 200


def test_a_recipient_without_a_value_is_reported_before_anything_is_charged(service: Service) -> None:
    recipients = [to(A, name="Ann"), B, to(C), to("0712", name="x"), to(A, name="twice"), {"phone": D, "vars": {}}]
    response = service.bulk(recipients, "Hi {{name}}")
    assert response.json["counts"] == {"submitted": 6, "accepted": 1, "duplicate": 1, "invalid": 4, "suppressed": 0}
    assert [(entry["index"], entry["phone"], entry["code"]) for entry in response.json["rejected"]] == [
        (1, B, "missing_variable"),
        (2, C, "missing_variable"),
        (3, "0712", "invalid_phone"),
        (4, A, "duplicate"),
        (5, D, "unknown_field"),
    ]
    assert "`name`" in response.json["rejected"][0]["detail"]
    strict = service.bulk(recipients, "Hi {{name}}", strict=True)
    assert [error["pointer"] for error in strict.json["errors"]] == [f"/phones/{n}" for n in range(1, 6)]
    nobody = service.bulk([A, B], "Hi {{name}}")
    assert (nobody.status_code, nobody.json["code"]) == (400, "no_valid_recipients")
    assert balance(service) == (999, 0)


def test_each_recipient_is_held_to_the_options(service: Service) -> None:
    recipients = [to(A, name="Ann"), to(B, name=LONG), to(C, name="ő")]
    few = service.bulk(recipients, "Hi {{name}}", max_segments=1, on_unicode="reject").json
    assert [entry["code"] for entry in few["rejected"]] == ["too_many_segments", "unicode_rejected"]
    assert few["cost"] == 1
    plain = service.bulk([to(C, name="ő")], "Hi {{name}}", on_unicode="transliterate").json
    assert plain["segments"] == {"per_message": 1, "encoding": "gsm7", "total": 1}
    assert texts()[C] == "Hi o"


def test_contacts_that_lack_a_value(service: Service) -> None:
    group = group_of(service, {A: {"name": "Ann"}, B: None, C: {"city": "x"}, D: {"name": ""}})
    quote = service.post("/sms/quote", sender_id="ACME", group_id=group, message="Hi {{name}}").json
    response = send_group(service, group, "Hi {{name}}").json
    for made in (quote, response):
        assert made["counts"] == {"submitted": 4, "accepted": 2, "duplicate": 0, "invalid": 2, "suppressed": 0}
        assert [(entry["phone"], entry["code"]) for entry in made["rejected"]] == [
            (B, "missing_variable"),
            (C, "missing_variable"),
        ]
        assert made["cost"] == 2
    assert texts() == {A: "Hi Ann", D: "Hi "}
    assert service.counts(response["send_id"]) == {"submitted": 4, "accepted": 2, "invalid": 2, "sent": 2}
    strict = send_group(service, group, "Hi {{name}}", strict=True)
    assert (strict.status_code, len(strict.json["errors"])) == (400, 2)
    nobody = send_group(service, group, "Hi {{nothing}}")
    assert (nobody.status_code, nobody.json["code"]) == (400, "no_valid_recipients")
    assert balance(service) == (998, 0)


def test_fields_that_change_before_the_group_is_expanded(service: Service) -> None:
    group = group_of(service, {A: {"n": "x"}, B: {"n": LONG}, C: None, D: {"n": "y"}})
    made = send_group(service, group, "{{n}}", send_at=ahead()).json
    assert (made["cost"], made["counts"]["accepted"], made["counts"]["invalid"]) == (4, 3, 1)
    changed = {A: LONG, B: "x" * 500, C: "late"}
    put(service, group, [Contact(int(phone), {"n": value}) for phone, value in changed.items()])
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=made["send_id"])
    assert expand(service.engine)
    assert audit(service.engine, full=True) == []
    service.sweep()
    assert texts() == {A: LONG, C: "late"}
    assert service.counts(made["send_id"]) == {"submitted": 4, "accepted": 2, "invalid": 2, "sent": 2}
    assert balance(service) == (1000 - 3, 0)


@pytest.mark.parametrize(
    ("value", "segments"), [("😀" * 255, 8), ("ß" + "😀ő" * 120, 6), ("س" * 255, 4), ("a" * 255, 2), ("€" * 200, 3)]
)
def test_the_cost_of_long_values_is_estimated_and_never_too_low(service: Service, value: str, segments: int) -> None:
    group = group_of(service, {A: {"n": value}})
    estimated = send_group(service, group, "{{n}}").json["cost"]
    service.sweep()
    assert service.bulk([to(A, n=value)], "{{n}}").json["cost"] == segments <= estimated <= segments + 2
    assert balance(service) == (1000 - 2 * segments, 0)


def test_values_that_make_a_message_too_long_are_cut_before_they_are_repeated(service: Service) -> None:
    group = group_of(service, {A: {"n": "x" * 255}, B: {"n": "y"}})
    made = send_group(service, group, "{{n}}" * 320).json
    assert made["counts"]["accepted"] == 2
    service.sweep()
    service.deliver_receipts()
    assert service.counts(made["send_id"]) == {"submitted": 2, "accepted": 1, "invalid": 1, "delivered": 1}
    assert balance(service) == (1000 - 3, 0)


def test_a_group_is_composed_page_by_page(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "COMPOSED_PAGE", 4)
    values = itertools.cycle([None, {"n": "Ann"}, {"n": LONG}])
    group = group_of(service, {str(255700000000 + k): next(values) for k in range(30)})
    made = send_group(service, group, "{{n}}").json
    service.sweep()
    with service.engine.connect() as connection:
        sizes = connection.execute(text("SELECT size FROM batch WHERE send_id = :send"), {"send": made["send_id"]})
        batches = sizes.scalars().all()
    assert sum(batches) == 20 and len(batches) > 6
    service.deliver_receipts()
    assert service.counts(made["send_id"]) == {"submitted": 30, "accepted": 20, "invalid": 10, "delivered": 20}
    assert balance(service) == (1000 - 30, 0)
    assert audit(service.engine, full=True) == []


values = st.text("aé €^ő😀{}|", max_size=90)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.one_of(st.none(), values), min_size=1, max_size=8),
    st.text("ab €ő", max_size=70),
    st.sampled_from(["{{n}}", "{{n|€}}", "{{n}}{{n}}", "{{n|a}}{{m|b}}"]),
    st.one_of(st.none(), st.integers(1, 3)),
)
def test_the_highest_cost_of_a_group_is_never_below_and_hardly_above_the_real_one(
    service: Service, fields: list[str | None], literal: str, positions: str, most: int | None
) -> None:
    template = parse(literal + positions)
    assert template is not None
    phones = [254700000000 + number for number in range(len(fields))]
    contacts = [Contact(phone, {"n": value} if value else None) for phone, value in zip(phones, fields, strict=True)]
    group = service.new_group([])
    put(service, group, contacts)
    looked = service.transact(scan_group, UUID(group), 100, template, most)
    complete = [contact.fields or {} for contact in contacts if template.missing(contact.fields or {}) is None]
    exact = [segment(template.render(values)) for values in complete]
    assert (looked.contacts, sum(looked.complete.values())) == (len(contacts), len(complete))
    assert looked.ucs2 == any(one.encoding == "ucs2" for one in exact)
    bounds = [min(one.count, most or one.count) for one in exact]
    segments = sum(looked.segments.values())
    assert sum(bounds) <= segments <= sum(bounds) + len(bounds)
    assert looked.most >= max(bounds, default=1)
    sent = [compose(template, values, "send", most) for values in complete]
    assert sum(made.segmentation.count for made in sent if isinstance(made, Composed)) <= segments
    service.client.delete(f"{PREFIX}/groups/{group}", headers={"Authorization": f"Bearer {service.token}"})
