"""How long data of people is kept."""

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
    return int(service.scalar(f"SELECT count(*) FROM {table} WHERE person_id = :id", id=ann.id))


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
    service.execute("UPDATE person SET disabled_at = disabled_at - interval '31 days' WHERE disabled_at IS NOT NULL")
    for _ in range(2):
        clean(service)
        row = service.row("SELECT * FROM person WHERE id = :id", id=ann.id)
        assert (row.email, row.name, row.password_hash, row.state) == (None, "", None, "disabled")
        assert (row.totp_secret, row.totp_pending, row.totp_step) == (None, None, None)
        assert count(service, "person_session", ann) == count(service, "recovery_code", ann) == 0
        assert count(service, "person_identity", ann) == 0
        assert ann.email not in service.get("/people").text
    assert staying.get("/me").status_code == 200


def test_people_who_are_erased_are_not_written_again(service: Service) -> None:
    ann = a_person(service)
    service.transact(disable_person, ann.email)
    service.execute("UPDATE person SET disabled_at = disabled_at - interval '31 days' WHERE disabled_at IS NOT NULL")
    versions = set[str]()
    for _ in range(2):
        clean(service)
        versions.add(str(service.scalar("SELECT xmin FROM person WHERE id = :id", id=ann.id)))
    assert len(versions) == 1


def test_sessions_invitations_and_links_go(service: Service) -> None:
    ann = a_person(service, service.account_id)
    service.transact(make_link, ann.id)
    service.transact(invite, "forgotten@example.com", service.account_id, "viewer")
    ann.post("/me/sign-out")
    clean(service)
    assert count(service, "person_session", ann) == count(service, "sign_in_link", ann) == 1
    service.execute("UPDATE person_session SET ended_at = ended_at - interval '31 days'")
    service.execute("UPDATE invitation SET expires_at = expires_at - interval '38 days'")
    service.execute("UPDATE sign_in_link SET expires_at = expires_at - interval '1 day'")
    clean(service)
    assert count(service, "person_session", ann) == count(service, "sign_in_link", ann) == 0
    assert service.scalar("SELECT count(*) FROM invitation") == 0
