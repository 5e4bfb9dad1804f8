"""Reads the OpenAPI document as a stranger would, and tries everything that it allows and forbids.

Schemathesis makes the requests: the document's examples, the edges of every schema, random valid and invalid ones, and
chains along the document's links. All its checks are on: no 500, only documented statuses, media types, headers and
bodies, invalid data refused, valid data accepted, nothing without the token.
"""

import json
import logging
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from schemathesis.openapi import from_url
from sqlalchemy import Engine, text
from werkzeug.serving import WSGIRequestHandler, make_server

from bulksms.local.ports import LOOPBACK
from shared.audit.check import Breach, audit
from tests.harness.service import PREFIX, Service

PATIENCE = 120
"""Seconds for a response."""
PHASES = ("examples", "coverage", "fuzzing", "stateful")
BEYOND_A_SCHEMA = {
    ("cursor", "invalid"): "only what a page gave is a cursor",
    ("limit", "invalid"): "messages with texts: at most 100",
    ("since", "invalid_time"): "",
    ("until", "invalid_time"): "",
    ("at", "invalid_time"): "prices: a time in the future",
    ("send_at", "invalid_time"): "",
    ("send_at", "too_far_ahead"): "it depends on the day",
    ("expires_at", "invalid_time"): "it depends on the day",
    ("phones", "invalid_phone"): "only with `strict`",
    ("phones", "duplicate"): "only with `strict`",
    ("message", "message_empty"): "a blank message is one that nobody sees",
    ("message", "invalid_characters"): "",
    ("metadata", "too_long"): "2 kB are bytes of JSON",
    ("name", "invalid"): "invisible characters",
    ("allowed_ips", "invalid"): "networks",
    ("country", "invalid"): "not every two letters are a country",
    ("types", "invalid"): "types of events, with commas",
    ("types", "required"): "",
    ("after", "invalid"): "only an event of the account is one",
    ("sender_id", "invalid_sender_id"): "",
    ("default_sender", "invalid_sender_id"): "",
    ("canary", "invalid"): "a count or a share",
    ("quiet_hours", "invalid"): "not with every category",
    ("quiet_hours", "invalid_time"): "both ends the same",
    ("variables", "invalid"): "names of variables",
    ("language", "invalid"): "languages in which the account has a text",
    ("sms_retriever_hash", "invalid"): "not with `web_otp_domain`",
    ("", "invalid"): "a CSV names its columns",
    ("phone_column", "invalid"): "a column of the file",
    ("fields", "invalid"): "fields of the file",
    ("", "required"): "a change changes something",
}
"""Fields with rules that JSON Schema cannot say: data that it allows is refused for them, and rightly so."""
OF_THE_WHOLE = {
    "too_many_segments",
    "unicode_rejected",
    "no_valid_recipients",
    "no_valid_contacts",
    "group_empty",
    *("low_balance", "quote_mismatch"),
    "idempotency_key_reused",  # an example's key, with a second body
}
"""Errors of a request whose every field is right."""
EACH_BY_ITSELF = ("/contacts", "/suppressions", "/import")
"""Paths of lists and files whose entries are taken or refused one by one, in a response that is a 200."""
ALSO_A_THING = (f"{PREFIX}/suppressions/import",)
"""Paths that DELETE takes for a thing of that name, as in /suppressions/{phone}, so that `Allow` tells it too."""
OPT_IN = text("DELETE FROM suppression")
OF_A_PROGRAM = "This is a binary file"
"""The detail for a PDF or an image: a file of any bytes fits its schema, and Schemathesis uploads those too."""
OF_NUMBERS = "a number is out of range"
"""The detail for a number that no column and few programs could hold."""


@dataclass(slots=True)
class Exploration:
    """What was tried, and what was found."""

    cases: Counter[str] = field(default_factory=Counter)
    """Requests by phase."""
    answered: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Requests by operation and status."""
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Refusals by operation and code."""
    findings: dict[tuple[str, ...], str] = field(default_factory=dict)
    """One example of each thing that is not as the document says."""

    @property
    def total(self) -> int:
        """Requests in all."""
        return sum(self.cases.values())


@contextmanager
def served(service: Service) -> Iterator[str]:
    """The service's API on a port of this machine, which can be explored to the end.

    Its own token survives a revoke, which hits another one; and phones are sent to again that have just opted out, or
    after the first opt-out of the examples' phone no send would be accepted any more.
    """
    app = service.flask

    def without_harm(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"].startswith(f"{PREFIX}/sms/"):
            service.execute(OPT_IN)
        if environ["PATH_INFO"] == f"{PREFIX}/auth/revoke":
            given = environ.get("HTTP_AUTHORIZATION", "")
            if given == f"Bearer {service.token}":
                environ["HTTP_AUTHORIZATION"] = f"Bearer {service.new_token(service.account_id)}"
        return app(environ, start)

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server(LOOPBACK, 0, without_harm, threaded=True, request_handler=KeepAlive)
    server.daemon_threads = True  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class KeepAlive(WSGIRequestHandler):
    """Connections are used again."""

    protocol_version = "HTTP/1.1"


def explore(engine: Engine, examples: int, seed: int = 1, phases: Iterable[str] = PHASES) -> Exploration:
    """Try everything once, and up to `examples` random requests of each operation and random chains."""
    service = Service(engine, credits=10**9)
    service.new_group(["254711000000", "254711000001"])
    service.bulk(["254711000000", "99901000001", "0712"], reference="x")
    service.deliver_receipts()
    service.worker.dispatcher.stop.set()  # what is accepted from now on stays where it is, so that it can be steered
    chosen = set(phases)
    made = Exploration()
    with served(service) as url:
        config = SchemathesisConfig.from_dict(
            {
                "seed": seed,
                "headers": {"Authorization": f"Bearer {service.token}"},
                "request-timeout": PATIENCE,
                # NUL is in no string that the service takes, and JSON Schema cannot say so.
                "generation": {"max-examples": examples, "database": "none", "no-shrink": True, "allow-x00": False},
                "phases": {name: {"enabled": name in chosen} for name in PHASES},
            }
        )
        for event in from_schema(from_url(f"{url}/openapi.json", config=config, timeout=PATIENCE)).execute():
            _note(made, event)
    return made


def books(engine: Engine) -> list[Breach]:
    """What is wrong with the books. That nothing moves is right: no worker runs."""
    return [breach for breach in audit(engine, full=True) if breach.rule != "queue_moves"]


def _note(made: Exploration, event: Any) -> None:
    if isinstance(event, events.FatalError):
        raise event.exception
    if isinstance(event, events.NonFatalError):
        made.findings[("error", str(event.label))] = event.info.format()
    if not isinstance(event, events.ScenarioFinished):
        return
    made.cases[event.phase.value] += len(event.recorder.cases)
    for case_id, checks in event.recorder.checks.items():
        case = event.recorder.cases[case_id].value
        response = event.recorder.interactions[case_id].response if case_id in event.recorder.interactions else None
        if response is not None:
            made.answered[case.operation.label, response.status_code] += 1
            if response.status_code >= 400 and response.content:
                made.refused[case.operation.label, json.loads(response.content)["code"]] += 1
        for check in checks:
            if check.status == Status.FAILURE and not _rightly_refused(check.name, case.operation.path, response):
                failure = check.failure_info.failure
                made.findings[(case.operation.label, check.name, failure.title)] = "\n".join(
                    (failure.message, check.failure_info.code_sample, "" if response is None else response.text[:1000])
                )


def _rightly_refused(check: str, path: str, response: Any) -> bool:
    """Whether valid data was refused for a rule that a schema cannot say, or a list taken that has wrong entries."""
    if check == "allow_header_conformance":
        return path in ALSO_A_THING
    if check == "negative_data_rejection":
        return any(path.endswith(end) for end in EACH_BY_ITSELF)
    if check != "positive_data_acceptance" or response is None:
        return False
    problem = json.loads(response.content)
    if path == f"{PREFIX}/auth/token" and not response.request.body:  # neither the body nor the headers are required
        return bool(problem["code"] == "validation_failed")
    if problem["code"] == "validation_failed":
        wrong = {(error["pointer"].strip("/").split("/")[0], error["code"]) for error in problem["errors"]}
        return wrong <= BEYOND_A_SCHEMA.keys()
    beyond = (OF_NUMBERS, OF_A_PROGRAM)
    return problem["code"] in OF_THE_WHOLE or any(problem_text in problem["detail"] for problem_text in beyond)
