"""Check a send's destinations, and detect SMS pumping, as the operator configured it."""

from sqlalchemy import insert

from api.commit.draft import Draft
from api.event_loop import require_thread
from api.limits.pumping_guard import WINDOW, Finding
from api.problems import Problem
from api.services import Services
from shared.accounts.limits import Limits
from shared.db.tables.limits import pumping_finding
from shared.lifecycle import Category

INSERT_FINDING = insert(pumping_finding)
DETAILS = {
    "block": "{phones} phones that begin with {prefix} got one-time passwords in ten minutes; {limit} are usual.",
    "burst": "{phones} phones that begin with {prefix} got one-time passwords in ten minutes; {limit} are usual,"
    " judging by the hour before.",
}


def check_destination(limits: Limits, phone: str) -> None:
    """Raise Problem destination_not_allowed if the account may not send to the phone."""
    if not limits.allows(phone):
        raise Problem("destination_not_allowed", "Your account may not send to this destination.")


def forbidden(limits: Limits, phones: list[str]) -> set[str]:
    """The phones that the account may not send to."""
    return set() if limits.destinations is None else {phone for phone in phones if not limits.allows(phone)}


def check_pumping(services: Services, draft: Draft) -> None:
    """Record suspected SMS pumping. Raises Problem traffic_refused if the account's guard blocks it."""
    limits = services.tokens.limits_of(draft.account_id)
    if limits.pumping == "off" or draft.category != Category.AUTHENTICATION:
        return
    require_thread()  # a retry in a thread would count the phone twice, and a new finding is written to the database
    for phone in draft.phones:
        finding = services.pumping.record(draft.account_id, phone)
        if finding is None:
            continue
        refused = limits.pumping == "block"
        if finding.first:
            _record(services, draft.account_id, finding, refused)
        if refused:
            raise Problem(
                "traffic_refused",
                DETAILS[finding.rule].format(**finding._asdict()),
                rule=finding.rule,
                prefix=finding.prefix,
                phones=finding.phones,
                most=finding.limit,
                window_seconds=int(WINDOW),
            )


def _record(services: Services, account_id: int, finding: Finding, refused: bool) -> None:
    values = {
        "account_id": account_id,
        "rule": finding.rule,
        "prefix": finding.prefix,
        "phones": finding.phones,
        "most": finding.limit,
        "refused": refused,
    }
    with services.engine.begin() as connection:
        connection.execute(INSERT_FINDING, values)
