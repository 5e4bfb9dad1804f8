"""How long data of people is kept."""

from sqlalchemy import text

from shared.db.tables.people import person_identity
from shared.people.invitations import invite
from shared.people.persons import disable_person
from shared.people.sign_in_links import make_link
from tests.harness.people import Person, a_person
from tests.harness.service import Service
from tests.integration.people.test_second_factor import enable
from worker.jobs.housekeeping import housekeeping


def clean(service: Service) -> None:
    """What a worker does every ten minutes."""
    for step in housekeeping(service.engine):
        step()


def count(service: Service, table: str, ann: Person) -> int:
    with service.engine.connect() as connection:
        rows = text(f"SELECT count(*) FROM {table} WHERE person_id = :id")
        return int(connection.execute(rows, {"id": ann.id}).scalar_one())


def age(service: Service, change: str) -> None:
    with service.engine.begin() as connection:
        connection.execute(text(change))


def test_a_person_who_was_disabled_is_erased_after_30_days(service: Service) -> None:
    a_person(service, service.account_id, "owner")
    ann, staying = a_person(service, service.account_id, "owner"), a_person(service, service.account_id)
    enable(ann)
    ann.token(service.account_id)
    with service.engine.begin() as connection:
        connection.execute(
            person_identity.insert().values(issuer="https://id.example", subject="ann", person_id=ann.id)
        )
        disable_person(connection, ann.email)
    clean(service)
    assert count(service, "person_identity", ann) == 1
    assert count(service, "person_session", ann) == 1 and count(service, "recovery_code", ann) == 10
    age(service, "UPDATE person SET disabled_at = disabled_at - interval '31 days' WHERE disabled_at IS NOT NULL")
    for _ in range(2):
        clean(service)
        with service.engine.connect() as connection:
            row = connection.execute(text("SELECT * FROM person WHERE id = :id"), {"id": ann.id}).one()
        assert (row.email, row.name, row.password_hash, row.state) == (None, "", None, "disabled")
        assert (row.totp_secret, row.totp_pending, row.totp_step) == (None, None, None)
        assert count(service, "person_session", ann) == count(service, "recovery_code", ann) == 0
        assert count(service, "person_identity", ann) == 0
        assert ann.email not in service.get("/people").text
    assert staying.get("/me").status_code == 200


def test_people_who_are_erased_are_not_written_again(service: Service) -> None:
    ann = a_person(service)
    with service.engine.begin() as connection:
        disable_person(connection, ann.email)
    age(service, "UPDATE person SET disabled_at = disabled_at - interval '31 days' WHERE disabled_at IS NOT NULL")
    versions = set[str]()
    for _ in range(2):
        clean(service)
        with service.engine.connect() as connection:
            versions.add(
                str(connection.execute(text("SELECT xmin FROM person WHERE id = :id"), {"id": ann.id}).scalar())
            )
    assert len(versions) == 1


def test_sessions_invitations_and_links_go(service: Service) -> None:
    ann = a_person(service, service.account_id)
    with service.engine.begin() as connection:
        make_link(connection, ann.id)
        invite(connection, "forgotten@example.com", service.account_id, "viewer")
    ann.post("/me/sign-out")
    clean(service)
    assert count(service, "person_session", ann) == count(service, "sign_in_link", ann) == 1
    age(service, "UPDATE person_session SET ended_at = ended_at - interval '31 days'")
    age(service, "UPDATE invitation SET expires_at = expires_at - interval '38 days'")
    age(service, "UPDATE sign_in_link SET expires_at = expires_at - interval '1 day'")
    clean(service)
    assert count(service, "person_session", ann) == count(service, "sign_in_link", ann) == 0
    with service.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM invitation")).scalar_one() == 0
