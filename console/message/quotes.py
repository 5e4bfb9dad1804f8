"""What a message that is being written will look like and cost, from quotes of the API."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bulksms_client.errors import ApiError
from flask_babel import gettext

from console.message.drafts import Draft, as_recipient
from console.message.recipients import SAMPLE, plain_phone
from console.pages.formats import phone as phone_as_written
from console.pages.problems import describe, describe_field, pointed_at
from console.session.current import account, country

EXAMPLE_PHONE = "12025550143"
"""For counting segments before there is a recipient."""
LONGEST_ROW = 6
"""Digits of the number of a row; longer ones are phone numbers."""
EXACT_RECIPIENTS = 1000
"""Longer lists get an estimate while their message is written, and an exact price before they are sent."""
EXACT_CONTACTS = 10_000
"""Larger groups get an estimate if each contact gets a different text."""
FIRST_RECIPIENTS = 100
"""How many recipients of a list are searched for one who gets the message, if the chosen one does not."""
OF_RECIPIENT = frozenset({"recipient_suppressed", "destination_not_allowed", "no_price", "recipient_limit"})
"""Codes of refusals that may not apply to other recipients."""


@dataclass(slots=True)
class MessagePreview:
    """The message of one recipient, and the price of all."""

    sample: list[dict[str, Any]] = field(default_factory=list)
    """Recipients that the preview can show."""
    fields: list[str] = field(default_factory=list)
    """The names of the fields that the first contacts of a group have."""
    chosen: int = 0
    one: dict[str, Any] | None = None
    """The quote for the chosen recipient."""
    cost: int | None = None
    exact: bool = True
    balance_after: int | None = None
    sufficient: bool = True
    count: int | None = None
    problem: str = ""
    is_missing: bool = False
    """Whether the recipient that was searched for is not among those that are known."""
    plain_message: str | None = None
    """The draft's message without the characters that make it UCS-2, if each has a replacement."""

    @property
    def text(self) -> str:
        """The message as the chosen recipient gets it."""
        return "".join(self.one["parts"]) if self.one else ""

    @property
    def encoding(self) -> dict[str, Any]:
        """Why the text is UCS-2, if it is."""
        return (self.one or {}).get("encoding") or {}


def preview(draft: Draft) -> MessagePreview:
    """A preview of the draft as it is now. An incomplete draft gets a partial preview, and no error."""
    preview = preview_without_price(draft)
    if preview.one is not None and preview.sample:
        _price(draft, preview)
    return preview


def preview_without_price(draft: Draft) -> MessagePreview:
    """The message of the chosen recipient or, if they get none, of the first who gets one; without a price."""
    preview = recipients_known(draft)
    sample = preview.sample
    searched = draft.form.text("preview_for") if draft.kind != "one" else None
    if searched:
        one = _searched(draft, searched)
        preview.sample = [one] if one else preview.sample
        preview.is_missing = one is None
    chosen = draft.form.place("preview") or 0
    if chosen < len(preview.sample):
        preview.chosen = chosen
    if not draft.message.strip() or not draft.form["sender_id"]:
        return preview
    recipient = preview.sample[preview.chosen] if preview.sample else {"phone": EXAMPLE_PHONE}
    try:
        preview.one = account().sends.quote(draft.one(recipient))
    except ApiError as error:
        if preview.sample:
            _show_another(draft, preview, sample, error)
    preview.plain_message = _plain_message(draft, preview)
    return preview


def recipients_known(draft: Draft) -> MessagePreview:
    """The recipients that a preview can show, and nothing that the API has to price."""
    sample = _sample(draft)
    names = {name for each in sample for name in each.get("variables") or {}} if draft.kind == "group" else ()
    return MessagePreview(sample=sample, fields=sorted(names), count=draft.count)


def _show_another(draft: Draft, preview: MessagePreview, sample: list[dict[str, Any]], error: ApiError) -> None:
    """Say why the chosen recipient gets no message, and show the message of another one, if one is found."""
    preview.problem = _error_text(error)
    if not _is_of_recipient(draft, error):
        return
    known = sample if draft.kind == "group" else [as_recipient(each) for each in draft.recipients[:FIRST_RECIPIENTS]]
    place = _first_index_not_left_out(draft, known)
    if place is None:
        return
    phone = phone_as_written(preview.sample[preview.chosen]["phone"])
    preview.problem = gettext("%(phone)s gets no message. %(reason)s", phone=phone, reason=preview.problem)
    preview.sample, preview.chosen = (sample, place) if place < SAMPLE else ([*sample, known[place]], SAMPLE)
    with suppress(ApiError):
        preview.one = account().sends.quote(draft.one(known[place]))


def _first_index_not_left_out(draft: Draft, known: list[dict[str, Any]]) -> int | None:
    """The index of the first recipient who is not left out; None if there is none."""
    try:
        left_out = {each["index"] for each in account().sends.quote(draft.several(known))["rejected"]}
    except ApiError:
        return None
    return next((place for place in range(len(known)) if place not in left_out), None)


def _is_of_recipient(draft: Draft, error: ApiError) -> bool:
    """Whether the refusal may concern only this recipient, so that another one may get the message."""
    if draft.kind == "one":
        return False
    named = error.problem.get("errors") or [{}]
    return bool(draft.placeholders) or error.code in OF_RECIPIENT or pointed_at(named[0])[0] == "phone"


def _plain_message(draft: Draft, preview: MessagePreview) -> str | None:
    """The draft's message in GSM-7, if possible. Characters of recipients' values cannot be replaced in it."""
    if not draft.placeholders:
        alternative = preview.encoding.get("gsm7_alternative")
        return alternative["text"] if alternative else None
    causes = {each["char"]: each["replacement"] for each in preview.encoding.get("cause", ())}
    own = {char: replacement for char, replacement in causes.items() if char in draft.message}
    if not own or None in own.values():
        return None
    return draft.message.translate(str.maketrans(own))


def _price(draft: Draft, preview: MessagePreview) -> None:
    """Set the price for all recipients: exact where that is quick, otherwise an estimate from the shown recipient's."""
    assert preview.one is not None
    try:
        whole = _whole(draft, preview)
    except ApiError as error:
        preview.problem = _error_text(error)
        return
    if whole is None:
        preview.exact = False
        preview.cost = preview.one["cost"] * (preview.count or 0)
    else:
        preview.cost, preview.count = whole["cost"], whole["counts"]["accepted"]
    preview.balance_after = preview.one["balance"] - preview.cost
    preview.sufficient = preview.balance_after >= 0


def _whole(draft: Draft, preview: MessagePreview) -> Any:
    """The quote for all recipients; None if it would take too long, or if a field is still incomplete."""
    if draft.kind == "one":
        return preview.one
    if draft.kind == "group":
        preview.count = account().groups.one(draft.group_id)["contact_count"]
        is_quick = not draft.placeholders or preview.count <= EXACT_CONTACTS
    else:
        is_quick = not draft.is_sample and len(draft.recipients) <= EXACT_RECIPIENTS
    if not is_quick:
        return None
    body = draft.body()
    if draft.form.errors:
        draft.form.errors.clear()  # reported when the message is sent; a half-typed time is not an error yet
        return None
    return account().sends.quote(body)


def _searched(draft: Draft, text: str) -> dict[str, Any] | None:
    """The recipient with this phone number, or in this row, counted from 1; None if there is none."""
    phone = plain_phone(text, country())
    if draft.kind == "group":
        try:
            preview = account().groups.contacts(draft.group_id, limit=1, phone=phone)["data"] if draft.group_id else []
        except ApiError:
            return None
        return next(({"phone": each["phone"], "variables": each["fields"]} for each in preview), None)
    place = int(phone) - 1 if phone.isdecimal() and len(phone) <= LONGEST_ROW else -1
    if 0 <= place < len(draft.recipients):
        return as_recipient(draft.recipients[place])
    return next((each for each in map(as_recipient, draft.recipients) if each["phone"] == phone), None)


def _sample(draft: Draft) -> list[dict[str, Any]]:
    if draft.kind == "one":
        body = draft.body()
        draft.form.errors.clear()
        return [{"phone": body["phone"], "variables": body.get("variables", {})}] if body["phone"] else []
    if draft.kind == "group":
        if not draft.group_id:
            return []
        try:
            contacts = account().groups.contacts(draft.group_id, limit=20)["data"]
        except ApiError:
            return []
        return [{"phone": each["phone"], "variables": each["fields"]} for each in contacts]
    return draft.sample()


def _error_text(error: ApiError) -> str:
    errors = error.problem.get("errors") or []
    return describe_field(errors[0], pointed_at(errors[0])[1]) if errors else describe(error)
