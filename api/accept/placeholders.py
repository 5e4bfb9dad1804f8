"""Recipients with placeholder values: each one's text, and the recipients that cannot get one.

The recipients of a list are split into chunks of equal segments and price. For a group, only the maximum cost is
determined, by a scan of its contacts. Texts that are the same for all are in `text.py`.
"""

from dataclasses import dataclass, field
from typing import Any

from api.accept.group_scan import contacts_lacking, scan_group
from api.accept.prices import SendPrices, by_country_of
from api.accept.text import Variables
from api.commit.draft import MAX_INLINE_ENTRIES
from api.limits.long_work import LongWork
from api.problems import MAX_ERRORS, Problem, invalid
from api.schemas.fields import MAX_REFERENCE_LENGTH
from api.services import Services
from shared.contacts.fields import value_problem
from shared.db.connection import reading
from shared.sends.batch_prices import ComposedRecipient, chunks_of
from shared.sends.batch_states import BATCH_SIZE
from shared.sends.templates import ComposeProblem, Template, compose
from shared.sms.phones import ScreenedPhones
from shared.sms.segments import MAX_CHARACTERS, Encoding, Segmentation


@dataclass(frozen=True, slots=True)
class UnpackedRecipients:
    """The phones of a list; by index, their placeholder values, their references, and what is wrong with an entry."""

    phones: list[object] = field(default_factory=list)
    variables: dict[int, Variables] = field(default_factory=dict)
    references: dict[int, str] = field(default_factory=dict)
    problems: dict[int, ComposeProblem] = field(default_factory=dict)


def unpack(entries: list[object]) -> UnpackedRecipients:
    """Split entries, which are phones or objects with `phone`, `variables` and `reference`, into their parts."""
    unpacked = UnpackedRecipients()
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or "phone" not in entry:
            unpacked.phones.append(entry)
            continue
        unpacked.phones.append(entry["phone"])
        problem = _problem_of(entry)
        if problem is not None:
            unpacked.problems[index] = problem
            continue
        if entry.get("variables"):
            unpacked.variables[index] = entry["variables"]
        if entry.get("reference") is not None:
            unpacked.references[index] = entry["reference"]
    return unpacked


def reject_problems(screened: ScreenedPhones, problems: dict[int, ComposeProblem]) -> ScreenedPhones:
    """Move the recipients with a problem to the rejected ones."""
    return screened.reject({index: problem._asdict() for index, problem in problems.items()})


def chunks_of_list(
    template: Template,
    screened: ScreenedPhones,
    variables: dict[int, Variables],
    body: dict[str, Any],
    prices: SendPrices,
) -> tuple[ScreenedPhones, dict[str, Any]]:
    """The recipients without those that cannot get a message; and the draft's segmentation, prices and chunks.

    All have a price. The segmentation is that of the longest message, with UCS-2 if any message needs it.
    """
    fits: list[ComposedRecipient] = []
    problems: dict[int, ComposeProblem] = {}
    longest, ucs2 = Segmentation("gsm7", 1, 0, 0), False
    names, work, of_each = template.names, LongWork(), prices.of_each(screened.accepted)
    for index, phone in zip(screened.indexes, screened.accepted, strict=True):
        work.step()
        values = variables.get(index, {})
        composed = compose(template, values, body["on_unicode"], body.get("max_segments"))
        if isinstance(composed, ComposeProblem):
            problems[index] = composed
            continue
        used = {name: values[name] for name in names if name in values}
        count, price = composed.segmentation.count, of_each.of(phone)
        assert price is not None
        fits.append(ComposedRecipient(len(fits), phone, count, count * price, used))
        longest = max(longest, composed.segmentation, key=lambda segmentation: segmentation.count)
        ucs2 = ucs2 or composed.segmentation.encoding == "ucs2"
    segmentation = Segmentation("ucs2" if ucs2 else "gsm7", longest.count, longest.characters, longest.units)
    costs, chunks = prices.of_list([each.phone for each in fits]), chunks_of(fits, BATCH_SIZE)
    return reject_problems(screened, problems), {
        "segmentation": segmentation,
        "chunks": chunks,
        "segment_price": costs.highest,
        "by_country": by_country_of(chunks) if costs.positions else None,
    }


def price_group(
    services: Services, body: dict[str, Any], bound: int, prices: SendPrices, template: Template
) -> dict[str, Any]:
    """The draft's values for a group: its contacts, those that lack a value, and the maximum segments and cost.

    Raises Problem if no contact has all values or, with `strict`, if any contact lacks one.
    """
    with reading(services.engine) as connection:
        scan = scan_group(connection, body["group_id"], bound, template, body.get("max_segments"))
        complete, segments = sum(scan.complete.values()), sum(scan.segments.values())
        incomplete = scan.contacts - complete
        lacking = (
            contacts_lacking(connection, body["group_id"], bound, template, MAX_INLINE_ENTRIES) if incomplete else []
        )
    if incomplete and body["strict"]:
        details = [(f"{entry['phone']}: {entry['detail']}") for entry in lacking[:MAX_ERRORS]]
        raise invalid([{"pointer": "/group_id", "code": "missing_variable", "detail": detail} for detail in details])
    if not complete:
        detail = "No contact has the values that the message needs."
        raise Problem("no_valid_recipients", detail, rejected=lacking[:MAX_ERRORS])
    encoding: Encoding = "ucs2" if scan.ucs2 else "gsm7"
    costs = prices.of_group(scan.complete, scan.segments)
    refuse_unpriced(body, costs.unpriced)
    return {
        "segmentation": Segmentation(encoding, scan.most, len(body["message"]), 0),
        "submitted": scan.contacts,
        "incomplete": incomplete + costs.unpriced,
        "rejected": lacking,
        "max_total_segments": segments,
        "max_cost": costs.total,
        "segment_price": costs.highest,
        "by_country": costs.by_country,
    }


def refuse_unpriced(body: dict[str, Any], contacts: int) -> None:
    """Raise Problem for contacts of a group without a price if `strict` refuses them."""
    if contacts and body["strict"]:
        detail = f"Your price list has no price for {contacts:,} of the group's contacts."
        raise invalid([{"pointer": "/group_id", "code": "no_price", "detail": detail}])


def _problem_of(entry: dict[str, Any]) -> ComposeProblem | None:
    unknown = next((name for name in entry if name not in ("phone", "variables", "reference")), None)
    if unknown is not None:
        return ComposeProblem(
            "unknown_field", f"There is no field {unknown[:40]!r}. The fields are phone, variables and reference."
        )
    reference = entry.get("reference")
    if reference is not None and not isinstance(reference, str):
        return ComposeProblem("wrong_type", "Write `reference` as a string, in double quotes.")
    if reference == "" or (reference and value_problem(reference, MAX_REFERENCE_LENGTH)):
        detail = f"A reference has 1 to {MAX_REFERENCE_LENGTH} characters, none of them a control character."
        return ComposeProblem("invalid", detail)
    variables = entry.get("variables")
    if variables is None:
        return None
    if not isinstance(variables, dict) or not all(isinstance(value, str) for value in variables.values()):
        return ComposeProblem("wrong_type", 'Write `variables` as an object of strings, such as {"name": "Ann"}.')
    problem = next(filter(None, (value_problem(value, MAX_CHARACTERS) for value in variables.values())), None)
    return ComposeProblem("invalid", problem) if problem else None
