"""The opt-out list over HTTP: adding to it, removing from it, and which messages it stops."""

import tracemalloc
from io import BytesIO

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from api.resources.suppressions import entries, routes
from shared.accounts.audit_log import list_changes
from shared.audit.check import audit
from shared.outbox import listen
from tests.harness.deliveries import settled_events
from tests.harness.service import PREFIX, Service
from tests.harness.times import ahead
from tests.integration.contacts.test_groups import call

PHONE, OTHER = "254733000001", "254733000002"


def import_csv(service: Service, body: str, **headers: str) -> TestResponse:
    sent = {"Authorization": f"Bearer {service.token}", "Content-Type": "text/csv", **headers}
    return service.client.post(f"{PREFIX}/suppressions/import", data=body.encode(), headers=sent)


def export(service: Service) -> str:
    return service.get("/suppressions", headers={"Accept": "text/csv"}).text


def test_it_works(service: Service) -> None:
    response = service.post("/suppressions", phones=[PHONE, "+254 733 000002", "0712", PHONE], reason="asked").json
    assert response["counts"] == {"submitted": 4, "added": 2, "unchanged": 0, "duplicate": 1, "invalid": 1}
    assert [(entry["index"], entry["code"]) for entry in response["rejected"]] == [(2, "invalid_phone")]
    assert [entry["phone"] for entry in service.get("/suppressions").json["data"]] == [PHONE, OTHER]
    refused = service.send(PHONE)
    assert (refused.status_code, refused.json["code"]) == (403, "recipient_suppressed")
    assert service.delete(f"/suppressions/{PHONE}").json == {"phone": PHONE, "removed": 1}
    assert service.send(PHONE).status_code == 200
    assert service.delete(f"/suppressions/{PHONE}").json["code"] == "suppression_not_found"
    assert service.delete("/suppressions/nobody").status_code == 404


def test_a_phone_may_have_its_plus_sign(service: Service) -> None:
    for plus in ("+", "%2B"):
        assert service.post("/suppressions", phones=[PHONE]).status_code == 200
        assert service.delete(f"/suppressions/{plus}{PHONE}").json == {"phone": PHONE, "removed": 1}


def test_a_removed_opt_out_is_in_the_audit_log_without_its_phone(service: Service) -> None:
    service.post("/suppressions", phones=[PHONE], category="marketing")
    service.post("/suppressions", phones=[PHONE], category="marketing", sender_id="ACME")
    service.delete(f"/suppressions/{PHONE}?category=marketing&sender_id=acme")
    service.delete(f"/suppressions/{PHONE}")
    service.delete(f"/suppressions/{PHONE}")
    hashed = "SELECT erased_phone(:account, :phone, erasure_key) FROM installation"
    subject = str(service.scalar(hashed, account=service.account_id, phone=int(PHONE)))
    with service.engine.connect() as connection:
        logged = list_changes(connection, account_id=service.account_id, action="suppression")
    assert [(each["actor"][:4], each["subject"], each["after"]) for each in logged] == [
        ("key ", subject, {"category": "", "sender_id": "", "removed": 1}),
        ("key ", subject, {"category": "marketing", "sender_id": "acme", "removed": 1}),
    ]
    assert PHONE not in str(logged) and all(each["request_id"] for each in logged)


def test_a_full_list_takes_a_new_entry_after_one_is_removed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_OPT_OUTS", 2)
    assert service.post("/suppressions", phones=[PHONE, OTHER]).status_code == 200
    assert service.delete(f"/suppressions/{PHONE}").status_code == 200
    assert service.post("/suppressions", phones=["254733000003"]).status_code == 200
    assert service.post("/suppressions", phones=[PHONE]).json["code"] == "suppression_limit"


def test_phones_of_other_countries_are_known_as_this_api_shows_them(service: Service) -> None:
    """4792345678 is a Norwegian's, without the plus sign, and would be a number in the US besides."""
    norwegian, american = "4792345678", "14792345678"
    with service.engine.begin() as connection:
        country = text("UPDATE account SET country = :country WHERE id = :account")
        connection.execute(country, {"country": "US", "account": service.account_id})
        before = connection.execute(text("SELECT country FROM account WHERE id = :id"), {"id": service.account_id})
        assert before.scalar() == "US"
    group = service.new_group([])
    service.post(f"/groups/{group}/contacts", contacts=[f"+{norwegian}", american])
    exported = service.get(f"/groups/{group}/contacts", headers={"Accept": "text/csv"}).text
    assert exported.splitlines()[1:] == [f"'+{norwegian},", f"{american},"]
    assert call(service, "DELETE", f"/groups/{group}/contacts", {"phones": [norwegian]}).json["removed"] == 1
    assert [each["phone"] for each in service.get(f"/groups/{group}/contacts").json["data"]] == [american]
    assert service.post("/suppressions", phones=[norwegian]).json["counts"]["added"] == 1
    assert service.send(norwegian).json["code"] == "recipient_suppressed"
    assert f"'+{norwegian}," in export(service)
    service.execute(country, country="KE", account=service.account_id)


def test_every_phone_of_a_person_in_a_file_opts_out(service: Service) -> None:
    """Somebody who opts out by one phone does not want messages on the other."""
    file = "Name,Home Phone,Mobile Phone\nAnn,+254733000011,+254733000012\nBen,+254733000013,\n"
    assert import_csv(service, file).json["counts"] == {
        "submitted": 3,
        "added": 3,
        "unchanged": 0,
        "duplicate": 0,
        "invalid": 0,
    }


SPELLINGS = [
    ("525555010123", "5215555010123"),
    ("5511955550123", "551155550123"),
    ("5491155550123", "541155550123"),
    ("2290197000123", "22997000123"),
]


@pytest.mark.parametrize(("written", "stored"), [*SPELLINGS, *((other, one) for one, other in SPELLINGS)])
def test_an_opt_out_holds_for_both_spellings_of_a_subscriber(service: Service, written: str, stored: str) -> None:
    """As networks write Mexican, Brazilian, Argentine and Beninese numbers: daddyz/phonelib #254, chatwoot #14926."""
    counts = service.post("/suppressions", phones=[written]).json["counts"]
    assert counts == {"submitted": 1, "added": 1, "unchanged": 0, "duplicate": 0, "invalid": 0}
    for phone in (written, stored):
        assert service.send(phone).json["code"] == "recipient_suppressed"
    assert service.post("/suppressions", phones=[stored]).json["counts"]["unchanged"] == 1
    assert service.delete(f"/suppressions/{stored}").json == {"phone": stored, "removed": 1}
    assert service.send(written).status_code == 200


@pytest.mark.parametrize(
    ("scope", "category", "sender", "refused"),
    [
        ({"category": "marketing"}, "marketing", "ACME", True),
        ({"category": "marketing"}, "transactional", "ACME", False),
        ({"sender_id": "ACME"}, "transactional", "ACME", True),
        ({"sender_id": "ELSE"}, "transactional", "ACME", False),
        ({"category": "marketing", "sender_id": "ACME"}, "marketing", "ACME", True),
        ({"category": "marketing", "sender_id": "ELSE"}, "marketing", "ACME", False),
    ],
)
def test_scopes(service: Service, scope: dict[str, str], category: str, sender: str, refused: bool) -> None:
    service.post("/suppressions", phones=[PHONE], **scope)
    single = service.send(PHONE, category=category, sender_id=sender)
    assert (single.status_code == 403) is refused
    bulk = service.bulk([PHONE, OTHER], category=category, sender_id=sender).json
    assert bulk["counts"]["suppressed"] == refused
    group = service.new_group([PHONE, OTHER])
    send = service.post("/sms/send-group", sender_id=sender, group_id=group, message="Hi", category=category).json
    assert service.counts(send["send_id"]).get("suppressed", 0) == refused
    query = "&".join(f"{name}={value}" for name, value in scope.items())
    assert service.delete(f"/suppressions/{PHONE}?category=authentication").status_code == 404
    assert service.delete(f"/suppressions/{PHONE}?{query}").json["removed"] == 1


def test_a_phone_that_opts_out_after_acceptance_is_dropped_at_hand_over_and_not_charged(service: Service) -> None:
    send = service.bulk([PHONE, OTHER], category="marketing", send_at=ahead()).json["send_id"]
    service.post("/suppressions", phones=[OTHER], category="marketing")
    service.post("/suppressions", phones=[PHONE], category="transactional")
    service.execute("UPDATE send SET send_at = now() WHERE id = :id", id=send)
    service.execute("UPDATE batch SET due_at = now() WHERE send_id = :id", id=send)
    service.sweep()
    assert service.counts(send) == {"submitted": 2, "accepted": 2, "sent": 1, "rejected": 1}
    assert service.get("/balance").json["balance"] == 999
    assert audit(service.engine, full=True) == []


def test_what_is_exported_can_be_imported(service: Service) -> None:
    service.post("/suppressions", phones=[PHONE], reason='said "no", twice')
    service.post("/suppressions", phones=[PHONE, OTHER], category="marketing", sender_id="ACME", reason="-1;=1")
    exported = export(service)
    assert exported.count("\n") == 4
    for phone in (PHONE, OTHER):
        service.delete(f"/suppressions/{phone}")
    response = import_csv(service, exported).json
    assert response["counts"]["added"] == 3
    assert [line.rpartition(",")[0] for line in export(service).splitlines()] == [
        line.rpartition(",")[0] for line in exported.splitlines()
    ]
    assert import_csv(service, exported).json["counts"]["unchanged"] == 3


def test_bad_rows_are_reported_and_the_others_taken(service: Service) -> None:
    response = import_csv(service, f"\ufeffPhone;Category\n{PHONE};marketing\n\n0712;\n").json
    assert response["counts"] == {"submitted": 2, "added": 1, "unchanged": 0, "duplicate": 0, "invalid": 1}
    assert [(entry["index"], entry["code"]) for entry in response["rejected"]] == [(1, "invalid_phone")]


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("category", "VIP", ""),
        ("category", "Marketing", "marketing"),
        ("sender_id", "Acme Kenya Limited", ""),
        ("sender_id", "acme", "ACME"),
        ("reason", "x" * 256, "x" * 255),
    ],
)
def test_a_phone_in_a_file_is_opted_out_whatever_is_beside_it(
    service: Service, column: str, value: str, found: str
) -> None:
    assert import_csv(service, f"phone,{column}\n{PHONE},{value}\n").json["counts"]["added"] == 1
    (entry,) = service.get("/suppressions").json["data"]
    assert (entry["phone"], entry[column] or "") == (PHONE, found)


@pytest.mark.parametrize("body", ["", "name\nAnn\n", 'phone\n"254', "phone\n\0\n"])
def test_a_file_that_is_not_csv_is_refused(service: Service, body: str) -> None:
    response = import_csv(service, body)
    assert (response.status_code, response.json["code"]) == (400, "validation_failed")
    assert import_csv(service, "phone\n", **{"Content-Type": "text/plain"}).status_code == 415


def test_who_has_not_opted_out_says_the_file_is_refused(service: Service) -> None:
    """As of a whole export of a CRM, with a column that says who has."""
    body = import_csv(service, "Phone,Opted Out\n254711000301,yes\n254711000302,no\n254711000304,\n").json
    assert (body["counts"]["added"], [each["phone"] for each in body["rejected"]]) == (2, ["254711000302"])
    assert "'Opted Out' says that the person has not opted out" in body["rejected"][0]["detail"]


def test_an_opt_out_is_read_by_the_country_of_its_row(service: Service) -> None:
    service.execute("UPDATE account SET country = 'KE'")
    body = import_csv(service, "Country Code,Phone\n256,772123456\nUG,0772123456\n1,3235550123\n").json
    assert [(each["phone"], each["code"]) for each in body["rejected"]] == [("0772123456", "invalid")]
    assert {each["phone"] for each in service.get("/suppressions").json["data"]} == {"256772123456", "13235550123"}


def test_a_phone_is_not_opted_out_where_it_may_be_of_another_column(service: Service) -> None:
    file = f"Name,Account,Phone\nAnn,,{OTHER}\nExample, Ben,254711000304,254711000305\n"
    body = import_csv(service, file).json
    assert (body["counts"]["added"], [each["phone"] for each in body["rejected"]]) == (1, ["254711000304"])
    assert import_csv(service, f"Phone,Reason\n{OTHER},\n{PHONE},Asked, twice\n").json["counts"]["added"] == 1


def test_a_sender_id_is_the_same_in_capitals_and_small_letters(service: Service) -> None:
    """Also one that was approved for the account after people opted out from it."""
    service.post("/suppressions", phones=["254711000303"], sender_id="acme", reason="Asked by phone")
    (entry,) = service.get("/suppressions?sender_id=Acme&reason=Asked%20by%20phone").json["data"]
    assert (entry["phone"], entry["sender_id"]) == ("254711000303", "ACME")
    service.execute("UPDATE suppression SET sender_id = 'acme' WHERE sender_id = 'ACME'")
    assert service.send("254711000303").json["code"] == "recipient_suppressed"
    assert service.delete("/suppressions/254711000303?sender_id=ACME").json["removed"] == 1
    assert service.send("254711000303").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begin", "unit"), [("phone\n", "1\n"), ("phone\n", "\n"), ("phone", ",a")], ids=["rows", "empty-rows", "columns"]
)
def test_a_file_with_too_much_in_it_is_refused_while_it_is_read(service: Service, begin: str, unit: str) -> None:
    """8 MB of it were 750 MB in memory, and took seconds, before they were refused."""
    given = begin + unit * ((8 * 1024 * 1024 - len(begin)) // len(unit))
    tracemalloc.start()
    response = import_csv(service, given)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (response.status_code, most < 100_000_000) == (400, True), (response.text, most)
    assert service.get("/suppressions").json["data"] == []


def test_a_file_may_have_eight_megabytes(service: Service) -> None:
    for over, status in ((0, 400), (1, 413)):  # 400, because it is one long line
        assert import_csv(service, "phone\n".ljust(8 * 1024 * 1024 + over)).status_code == status


def test_a_file_may_have_as_many_rows_as_entries_are_allowed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "MAX_ENTRIES", 3)
    rows = [str(254700000000 + number) for number in range(4)]
    assert import_csv(service, "phone\n" + "\n\n".join(rows[:3]) + "\n").json["counts"]["added"] == 3
    refused = import_csv(service, "phone\n" + "\n".join(rows))
    assert (refused.status_code, refused.json["code"], refused.json["max"]) == (400, "too_many_recipients", 3)


def test_each_request_that_adds_a_phone_to_the_list_writes_one_event(service: Service) -> None:
    listen(service.engine, service.account_id)
    key = {"Idempotency-Key": "k1"}
    for _ in range(2):
        service.post("/suppressions", phones=[PHONE], reason="asked", category="marketing", headers=key)
    service.post("/suppressions", phones=[PHONE], reason="asked", category="marketing")
    import_csv(service, f"phone,reason,sender_id\n{PHONE},one,ACME\n{OTHER},two,ACME\n")
    events = [event["data"] for event in settled_events(service, "?types=suppression.created")]
    nothing = dict.fromkeys(("phone", "category", "sender_id", "reason"))
    assert events == [
        {**nothing, "added": 1, "phone": PHONE, "category": "marketing", "reason": "asked"},
        {**nothing, "added": 2, "sender_id": "ACME"},
    ]


def test_a_file_is_read_as_an_import_of_contacts_is(service: Service) -> None:
    """But of several phones in a cell all have opted out."""
    file = f"Home Phone,Work Phone,Reason\n{PHONE} / 254711000009,{OTHER},pidió\n"
    refused = import_csv(service, file)
    assert (refused.status_code, [each["column"] for each in refused.json["candidates"]]) == (400, [1, 2])
    headers = {"Authorization": f"Bearer {service.token}"}
    place = f"{PREFIX}/suppressions/import?phone_column=1"
    form = {"file": (BytesIO(file.encode("cp1252")), "a.csv", "text/csv; charset=windows-1252")}
    assert service.client.post(place, data=form, headers=headers).json["counts"]["added"] == 2
    listed = service.get("/suppressions").json["data"]
    assert {each["phone"]: each["reason"] for each in listed} == dict.fromkeys((PHONE, "254711000009"), "pidió")
    assert import_csv(service, f'sep=;\nNumber;Note\n{OTHER};TV 42" stand\n').json["counts"]["added"] == 1


NO_SENDERS = ["|", "Ä", "\n", "a\tb", " ACME", "ACME-AND-OTHERS", "12"]


@pytest.mark.parametrize("sender", NO_SENDERS)
def test_an_opt_out_with_an_impossible_sender_id_is_refused(service: Service, sender: str) -> None:
    refused = service.post("/suppressions", phones=[PHONE], sender_id=sender)
    assert (refused.status_code, refused.json["code"]) == (400, "validation_failed")
    assert [(each["pointer"], each["code"]) for each in refused.json["errors"]] == [("/sender_id", "invalid_sender_id")]
