"""What a message that is being written will look like and cost, from quotes of the API."""

from dataclasses import dataclass, field
from typing import Any

from bulksms_client.errors import ApiError

from console.message.drafts import Draft, as_recipient
from console.message.recipients import plain_phone
from console.pages.problems import describe, describe_field
from console.session.current import account

EXAMPLE_PHONE = "12025550143"
"""For counting segments before there is a recipient."""
LONGEST_ROW = 6
"""Digits of the number of a row; longer ones are phone numbers."""
EXACT_RECIPIENTS = 1000
"""Longer lists get an estimate while their message is written, and their price before they are sent."""
EXACT_CONTACTS = 10_000
"""Larger groups get an estimate if each contact gets another text."""


@dataclass(slots=True)
class MessagePreview:
    """The message of one recipient, and the price of all."""

    sample: list[dict[str, Any]] = field(default_factory=list)
    """Recipients that the preview can show."""
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
    """What the draft is now. A draft that is not complete has less of it, and no error."""
    preview = MessagePreview(sample=_sample(draft), count=draft.count)
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
            preview.problem = _told(error)
        return preview
    preview.plain_message = _plain_message(draft, preview)
    if preview.sample:
        _price(draft, preview)
    return preview


def _plain_message(draft: Draft, preview: MessagePreview) -> str | None:
    """With placeholders, what each recipient's values bring is left out: it cannot be replaced in the message."""
    if not draft.placeholders:
        alternative = preview.encoding.get("gsm7_alternative")
        return alternative["text"] if alternative else None
    causes = {each["char"]: each["replacement"] for each in preview.encoding.get("cause", ())}
    own = {char: replacement for char, replacement in causes.items() if char in draft.message}
    if not own or None in own.values():
        return None
    return draft.message.translate(str.maketrans(own))


def _price(draft: Draft, preview: MessagePreview) -> None:
    """The price of all: exact where that is quick, else an estimate by the chosen recipient's."""
    assert preview.one is not None
    whole = preview.one if draft.kind == "one" else None
    if draft.kind == "group":
        group = account().groups.one(draft.group_id)
        preview.count = group["contact_count"]
        if not draft.placeholders or group["contact_count"] <= EXACT_CONTACTS:
            whole = _whole(draft, preview)
    elif draft.kind != "one" and not draft.is_sample and len(draft.recipients) <= EXACT_RECIPIENTS:
        whole = _whole(draft, preview)
    if preview.problem:
        return
    if whole is None:
        preview.exact = False
        preview.cost = preview.one["cost"] * (preview.count or 0)
    else:
        preview.cost = whole["cost"]
    preview.balance_after = preview.one["balance"] - preview.cost
    preview.sufficient = preview.balance_after >= 0


def _whole(draft: Draft, preview: MessagePreview) -> Any:
    body = draft.body()
    if draft.form.errors:
        draft.form.errors.clear()  # said when the message is sent; a half typed time is no mistake
        return None
    try:
        return account().sends.quote(body)
    except ApiError as error:
        preview.problem = _told(error)
        return None


def _searched(draft: Draft, text: str) -> dict[str, Any] | None:
    """The recipient with a phone number, or in a row that is counted from 1; None if there is none."""
    phone = plain_phone(text)
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


def _told(error: ApiError) -> str:
    errors = error.problem.get("errors") or []
    return describe_field(errors[0]) if errors else describe(error)
