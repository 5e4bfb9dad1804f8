"""An account with a month behind it: what browser tests look at, and what the pictures of the documentation show."""

import random
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from shared.accounts.top_ups import top_up
from shared.db.connection import transaction
from shared.db.tables.usage import usage
from shared.inbound import Inbound, store
from shared.people.memberships import add_member
from shared.people.persons import create_person
from tests.harness.console import Console
from tests.harness.people import Person, a_person, hash_of_password
from worker.jobs.usage import count_one

NUMBER = "254204000009"
CUSTOMERS = ("Amina", "Brian", "Chebet", "David", "Esther", "Faraji", "Grace", "Hassan", "Imani", "Juma")
CITIES = ("Nairobi", "Mombasa", "Kisumu", "Nakuru", "Eldoret")
DAYS = 30
REPORT = """
    INSERT INTO carrier_report (carrier, worker, state, since, rate, allowed, "window", alone, submitted, throttled,
                                failed, reported_at)
    VALUES ('simulator', 'demo', 'ready', now(), 0, 0, 400, false, 0, 0, 0, now() + interval '10 minutes')
    ON CONFLICT (carrier, worker) DO NOTHING
"""

BUSY_REPORT = """
    INSERT INTO carrier_report (carrier, worker, state, since, rate, allowed, "window", alone, submitted, throttled,
                                failed, error, reported_at)
    VALUES ('safari-smpp', 'demo', 'ready', now(), 100, 62.5, 50, false, 120480, 312, 41,
            'throttled: too many requests', now() + interval '10 minutes')
"""


def furnish(console: Console) -> None:
    """Fill the account of the console's service."""
    service = console.service
    with service.engine.begin() as connection:
        connection.execute(
            text("UPDATE account SET name = :name WHERE id = :account"),
            {"name": f"Harbour Coffee {service.account_id}", "account": service.account_id},
        )
        for sender, state, reason in (
            (NUMBER, "approved", None),
            ("HARBOUR", "pending", None),
            ("BANK", "rejected", "The name belongs to somebody else."),
        ):
            connection.execute(
                text(
                    "INSERT INTO sender_id (account_id, sender_id, state, reason)"
                    " VALUES (:account, :sender, :state, :reason)"
                ),
                {"account": service.account_id, "sender": sender, "state": state, "reason": reason},
            )
        for name, role in (("Grace Wanjiru", "sender"), ("Peter Kamau", "viewer")):
            email = f"{name.split()[0].lower()}-{uuid.uuid4().hex[:6]}@example.com"
            person = create_person(connection, email, name, hash_of_password())
            assert person is not None
            add_member(connection, service.account_id, person, role)
    _month(console)
    _sends(console)
    with transaction(service.engine) as connection:
        store(
            connection,
            "simulator",
            [
                Inbound("+254711000003", f"+{NUMBER}", "Do you still have the Kenyan AA beans?"),
                Inbound("+254711000007", f"+{NUMBER}", "STOP"),
            ],
        )
    service.post(
        "/sms/send", sender_id=NUMBER, phone="254711000003", message="Yes, we do. Shall we keep a bag for you?"
    )
    service.post("/suppressions", phones=["254711000044"], reason="asked by phone", category="marketing")
    service.post("/webhooks", url="https://shop.example.com/sms-events", description="Orders")
    service.deliver_receipts()
    while count_one(service.engine):
        pass


def _sends(console: Console) -> None:
    service = console.service
    contacts = [
        {
            "phone": str(254711000000 + number),
            "fields": {"name": CUSTOMERS[number % len(CUSTOMERS)], "city": CITIES[number % len(CITIES)]},
            "tags": ["vip"] if number % 4 == 0 else [],
        }
        for number in range(120)
    ]
    group = service.post("/groups", name="Regular customers").json["group_id"]
    service.post(f"/groups/{group}/contacts", contacts=contacts)
    service.post("/groups", name="Newsletter")
    upload = b"phone,name\n254722000001,Ruth\n07x2,Nobody\n254722000003,Otieno\n"
    service.client.post(
        f"/api/v1/groups/{group}/import",
        data=upload,
        headers={"Authorization": f"Bearer {service.token}", "Content-Type": "text/csv"},
    )
    service.import_files()
    service.post(
        "/sms/send-group",
        sender_id="ACME",
        group_id=group,
        message="Hi {{name|there}}, this Saturday we roast in {{city|town}}. Come by for a free tasting!",
        category="marketing",
        reference="tasting-november",
    )
    service.bulk(
        [str(254711000000 + number) for number in range(40)] + ["0711", "254711000001"], "Your order is ready."
    )
    service.send("254711000009", "Your code is 402 113", category="authentication")
    failing = [*(f"99901{number:07d}" for number in range(9)), *(f"99902{number:07d}" for number in range(4))]
    busy = [str(254733000000 + number) for number in range(2400)]
    service.bulk(busy[:200] + failing + busy[200:], "Our winter menu is here. See you soon!", rate=150)
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds")
    service.bulk(["254711000001", "254711000002"], "Doors open at 9 tomorrow.", send_at=later, reference="opening")
    service.deliver_receipts()


def _month(console: Console) -> None:
    """Counts of the days before today, as the workers would have made them."""
    chance = random.Random(7)
    today = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0)
    rows: list[dict[str, Any]] = []
    for back in range(1, DAYS):
        began = today - timedelta(days=back)
        busy = 0.35 if began.weekday() >= 5 else 1.0
        delivered = int(chance.randint(900, 2400) * busy)
        counts = {"delivered": delivered, "undelivered": delivered // chance.randint(25, 60), "sent": 0}
        counts["in_doubt"] = 4 if back == 11 else 0
        for status, messages in counts.items():
            if messages:
                rows.append(
                    {
                        "account_id": console.service.account_id,
                        "began_at": began,
                        "sender_id": "ACME",
                        "country": "KE" if back % 5 else "UG",
                        "lane": 2,
                        "status": status,
                        "messages": messages,
                        "credits": messages if status != "in_doubt" else 0,
                    }
                )
    with console.service.engine.begin() as connection:
        connection.execute(usage.insert(), rows)


def go_on_sending(console: Console) -> None:
    """Let the send with a rate go on until half of it is sent, with a worker that reports its carrier."""
    service = console.service
    service.execute(REPORT)
    for _ in range(200):
        service.sweep()
        service.deliver_receipts()
        running = service.get("/sends?status=sending").json["data"]
        if not running or running[0]["counts"]["delivered"] > running[0]["counts"]["accepted"] / 2:
            return
        time.sleep(0.1)


def furnish_operation(console: Console) -> None:
    """Give the operator something to decide: a sender ID like another's, doubts, a carrier that throttles."""
    service = console.service
    neighbour = service.new_account("Harbor Coffee Ltd")
    with transaction(service.engine) as connection:
        connection.execute(
            text(
                "INSERT INTO sender_id (account_id, sender_id, state, use_case)"
                " VALUES (:account, 'HARB0UR', 'pending', 'Tell our guests that their table is ready')"
            ),
            {"account": neighbour},
        )
        top_up(connection, service.account_id, 25_000, "invoice 2026-0117", "payment-0117")
        top_up(connection, service.account_id, 500, "invoice 2026-0118", "payment-0118")
        connection.execute(text(REPORT))
        connection.execute(text(BUSY_REPORT))
    service.bulk([str(99_906_500_001 + number) for number in range(5)], "Doors open at 9 tomorrow.")


def operator(console: Console) -> Person:
    """The administrator who looks at it."""
    person = a_person(console.service, None, operator_role="admin")
    console.service.execute(
        "UPDATE person SET name = 'Amos Kiprop', time_zone = 'Africa/Nairobi' WHERE id = :person", person=person.id
    )
    return person


def owner(console: Console) -> Person:
    """The person who looks at it."""
    person = console.person("owner")
    console.service.execute(
        "UPDATE person SET name = 'Nia Mwangi', time_zone = 'Africa/Nairobi' WHERE id = :person", person=person.id
    )
    return person
