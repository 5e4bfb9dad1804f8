"""Count requests against the limits of their callers: when they come, and the work that they turn out to be."""

from collections.abc import Iterator

from api.auth.operator_tokens import Operator
from api.auth.person_sessions import SignedIn
from api.auth.tokens import Caller
from api.http.request import Request, current_request
from api.problems import Problem
from api.request_cost import BYTES_PER_REQUEST, ROWS_PER_REQUEST
from api.services import Services
from shared.accounts.limits import Limits
from shared.plurals import counted
from shared.settings import Settings


def take_request(caller: Caller) -> None:
    """Count the request against the account's rate limit, and the key's if it has one. Raises Problem rate_limited.

    A request that is handled again in a thread (api/event_loop.py) is counted only once. From now on its log line names
    the caller.
    """
    request = current_request()
    request.summary.account_id, request.summary.key_id = caller.account_id, caller.key_id
    if request.rate_limit is not None:
        return
    work = _services()
    requests = work.requests
    rate = requests_per_second(work.settings, work.tokens.limits_of(caller.account_id), caller)
    left = requests.take(caller.account_id, rate=rate)
    if left >= 0 and caller.rate is not None and caller.rate < rate:
        rate, left = caller.rate, requests.take(caller.key_id, rate=caller.rate)
    request.rate_limit = (rate, max(0, int(left)))
    _refuse_above(rate, left)


def take_operator_request(operator: Operator) -> None:
    """Count the request against the operator's own rate limit. Raises Problem rate_limited."""
    work = _services()
    rate = work.settings.requests_per_second
    left = work.requests.take(operator.payer, rate=rate)
    current_request().rate_limit = (rate, max(0, int(left)))
    _refuse_above(rate, left)


def take_session_request(signed_in: SignedIn) -> None:
    """Count the request against the limits of the session and of its person. Raises Problem rate_limited.

    What a session is refused is not counted against the person, who can still use another session.
    """
    of_session, of_person = _services().session_requests, _services().person_requests
    rate, left = of_session.rate, of_session.take(signed_in.payer)
    if left >= 0:
        left_of_person = of_person.take(signed_in.person_id)
        if left_of_person < 0:
            rate, left = of_person.rate, left_of_person
    current_request().rate_limit = (int(rate), max(0, int(left)))
    _refuse_above(int(rate), left)


def _refuse_above(rate: int, left: float) -> None:
    if left < 0:
        raise Problem(
            "rate_limited",
            f"The limit is {counted(rate, 'request')} per second, or equivalent work (`request_cost` in GET /limits).",
            headers={"Retry-After": str(_services().requests.wait(left, rate))},
        )


def requests_per_second(settings: Settings, limits: Limits, caller: Caller) -> int:
    """The request limit of the caller's account, or of its sandbox for a test key."""
    rate = limits.requests_per_second or settings.requests_per_second
    return min(rate, settings.sandbox_requests_per_second) if caller.test else rate


def charge(request: Request, caller: Caller | Operator | SignedIn | None) -> None:
    """Charge the caller for the work of its request, beyond the one request already counted."""
    cost = int(request.work.cost()) - 1
    if caller is not None and cost > 0:
        buckets = _services().session_requests if isinstance(caller, SignedIn) else _services().requests
        left = buckets.charge(caller.payer, cost)
        if request.rate_limit is not None:
            rate, before = request.rate_limit
            request.rate_limit = (rate, max(0, min(before, int(left))))


def charged(lines: Iterator[str], payer: int | str) -> Iterator[str]:
    """The lines of an export, charged as they are written."""
    requests = _services().requests

    def written() -> Iterator[str]:
        for chunk in lines:
            requests.charge(payer, max(chunk.count("\n") / ROWS_PER_REQUEST, len(chunk) / BYTES_PER_REQUEST))
            yield chunk

    return written()


def _services() -> Services:
    services: Services = current_request().services
    return services
