"""Messages with placeholders: what each recipient of a request gets, and who cannot be sent a message.

A single send is rendered here and is then like any other. The recipients of a list are put into pieces of equal price;
of a group, only the reserve is made, by one look at its contacts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api.accept.group_scan import contacts_lacking, scan_group
from api.commit.draft import INLINE
from api.http.problems import MAX_ERRORS, Problem, invalid
from api.services import Services
from shared.contacts.fields import value_problem
from shared.db.connection import reading
from shared.sends.placeholder_batches import Fit, chunks_of
from shared.sends.templates import MAX_PLACEHOLDERS, Template, Unfit, compose, parse
from shared.sms.phones import Screened
from shared.sms.segments import MAX_CHARACTERS, Encoding, Segmentation

Variables = dict[str, str]


@dataclass(frozen=True, slots=True)
class Recipients:
    """A list's phones, with their values and the problems of invalid entries, both by index."""

    phones: list[object]
    variables: dict[int, Variables]
    problems: dict[int, Unfit]


def template_of(message: str) -> Template | None:
    """The message's template; None if it has no template syntax. Raises Problem for too many placeholders."""
    template = parse(message)
    if template is not None and len(template.different) > MAX_PLACEHOLDERS:
        found = f"The message has {len(template.different)} different placeholders"
        detail = f"{found} and may have at most {MAX_PLACEHOLDERS}."
        raise invalid([{"pointer": "/message", "code": "too_many_variables", "detail": detail}])
    return template


def render_one(template: Template, body: dict[str, Any]) -> str:
    """Render the text of a single send. Raises Problem for a missing value, or a text that cannot be sent."""
    variables: Variables = body.get("variables") or {}
    missing = template.missing(variables)
    if missing is not None:
        detail = f"The message has the placeholder `{missing}`: give its value, or a default in the message."
        raise invalid([{"pointer": f"/variables/{missing}", "code": "missing_variable", "detail": detail}])
    made = compose(template, variables, "send", None)
    if isinstance(made, Unfit):
        raise invalid([{"pointer": "/message", "code": made.code, "detail": made.detail}])
    return made.text


def unpack(entries: list[object]) -> Recipients:
    """Split entries, which are phones or objects with `phone` and `variables`, into phones and values."""
    phones: list[object] = []
    variables: dict[int, Variables] = {}
    problems: dict[int, Unfit] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or "phone" not in entry:
            phones.append(entry)
            continue
        phones.append(entry["phone"])
        problem = _problem_of(entry)
        if problem is not None:
            problems[index] = problem
        elif entry.get("variables"):
            variables[index] = entry["variables"]
    return Recipients(phones, variables, problems)


def without(screened: Screened, problems: dict[int, Unfit]) -> Screened:
    """Move the recipients with a problem to the rejected ones."""
    if not problems:
        return screened
    positions = positions_of(screened)
    kept = [(index, phone) for index, phone in zip(positions, screened.accepted, strict=True) if index not in problems]
    rejected = [
        {"index": index, "phone": phone, "code": problems[index].code, "detail": problems[index].detail}
        for index, phone in zip(positions, screened.accepted, strict=True)
        if index in problems
    ]
    return Screened(
        [phone for _, phone in kept],
        [index for index, _ in kept],
        sorted([*screened.rejected, *rejected], key=lambda entry: int(str(entry["index"]))),
    )


def same_for_all(template: Template, entries: list[object] | None) -> bool:
    """Whether each recipient of a list gets the same: it has no placeholder, or defaults only and nobody has values.

    So of a group (`entries` is None) only where there is no placeholder.
    """
    if not template.placeholders:
        return True
    return entries is not None and template.missing({}) is None and not any(isinstance(e, dict) for e in entries)


def common_text(kind: str, body: dict[str, Any]) -> str | None:
    """The text that all recipients of a request get; None if it differs by recipient."""
    message: str = body["message"]
    template = template_of(message) if "{{" in message else None
    if template is None:
        return message
    if kind == "single" or same_for_all(template, body.get("phones")):
        return render_one(template, body)
    return None


def chunks_of_list(
    template: Template, screened: Screened, variables: dict[int, Variables], body: dict[str, Any], size: int
) -> tuple[Screened, dict[str, Any]]:
    """The recipients who can be sent a message, and of the draft its segmentation and its batches of `size`.

    The segmentation is that of the longest message, and UCS-2 where any is.
    """
    fits: list[Fit] = []
    problems: dict[int, Unfit] = {}
    most, ucs2 = Segmentation("gsm7", 1, 0, 0), False
    names = template.names
    for index, phone in zip(positions_of(screened), screened.accepted, strict=True):
        values = variables.get(index, {})
        made = compose(template, values, body["on_unicode"], body.get("max_segments"))
        if isinstance(made, Unfit):
            problems[index] = made
            continue
        wanted = {name: values[name] for name in names if name in values}
        fits.append(Fit(len(fits), phone, made.segmentation.count, wanted))
        most = max(most, made.segmentation, key=lambda segmentation: segmentation.count)
        ucs2 = ucs2 or made.segmentation.encoding == "ucs2"
    longest = Segmentation("ucs2" if ucs2 else "gsm7", most.count, most.characters, most.units)
    return without(screened, problems), {"segmentation": longest, "chunks": chunks_of(fits, size)}


def group_of(services: Services, body: dict[str, Any], bound: int, template: Template) -> dict[str, Any]:
    """Of the draft of a group send: its contacts, who of them lack a value, and what the messages cost at most.

    Raises Problem where nobody can be sent to, or, with `strict`, not everybody.
    """
    with reading(services.engine) as connection:
        looked = scan_group(connection, body["group_id"], bound, template, body.get("max_segments"))
        incomplete = looked.contacts - looked.complete
        lacking = contacts_lacking(connection, body["group_id"], bound, template, INLINE) if incomplete else []
    if incomplete and body["strict"]:
        details = [(f"{entry['phone']}: {entry['detail']}") for entry in lacking[:MAX_ERRORS]]
        raise invalid([{"pointer": "/group_id", "code": "missing_variable", "detail": detail} for detail in details])
    if not looked.complete:
        detail = "No contact has the values that the message needs."
        raise Problem("no_valid_recipients", detail, rejected=lacking[:MAX_ERRORS])
    encoding: Encoding = "ucs2" if looked.ucs2 else "gsm7"
    return {
        "segmentation": Segmentation(encoding, looked.most, len(body["message"]), 0),
        "submitted": looked.contacts,
        "incomplete": incomplete,
        "rejected": lacking,
        "most_segments": looked.segments,
    }


def positions_of(screened: Screened) -> Sequence[int]:
    """The index of each accepted recipient in the request."""
    return screened.accepted_index or range(len(screened.accepted))


def _problem_of(entry: dict[str, Any]) -> Unfit | None:
    unknown = next((name for name in entry if name not in ("phone", "variables")), None)
    if unknown is not None:
        return Unfit("unknown_field", f"There is no field {unknown[:40]!r}. The fields are phone and variables.")
    variables = entry.get("variables")
    if variables is None:
        return None
    if not isinstance(variables, dict) or not all(isinstance(value, str) for value in variables.values()):
        return Unfit("wrong_type", 'Write `variables` as an object of strings, such as {"name": "Ann"}.')
    problem = next(filter(None, (value_problem(value, MAX_CHARACTERS) for value in variables.values())), None)
    return Unfit("invalid", problem) if problem else None
