"""A message that is being written, and the request that it becomes."""

import csv
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from flask_babel import gettext

from console.message.recipients import (
    MOST_RECIPIENTS,
    SAMPLE,
    Table,
    TooManyRecipients,
    phones_of_list,
    placeholders,
    plain_phone,
    read_table,
    recipients_of_table,
)
from console.pages.formats import utc_from_local
from console.pages.forms import Form, as_number
from console.pages.problems import REFUSALS
from console.session.current import country
from shared.sms.numbering import numbering_of

UUID_FORM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
KINDS = ("one", "list", "file", "group")
TIME_OF_DAY = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)
FIELDS = {
    "phones": "list",
    "variables": "message",
    "stop_if": "stop_share",
    "stop_if/min_messages": "stop_over",
    "quiet_hours": "quiet_from",
    "quiet_hours/until": "quiet_until",
}
"""The form's field that shows the errors of each field of the API."""
FIELDS_OF_FILE = {**FIELDS, "phones": "file"}
VALUES_OF_FILE = ("file_text", "file_name", "file_rows", "file_sample")
"""What the form keeps of a file."""


class Draft:
    """What was typed into the form for a new message."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.kind = form["kind"] if form["kind"] in KINDS else "one"
        self.message = form["message"].replace("\r\n", "\n")
        self.placeholders = placeholders(self.message)

    @cached_property
    def table(self) -> Table:
        """The CSV file, or its first rows where the page sent only those."""
        try:
            return read_table(self.form["file_text"] or self.form["file_sample"], numbering_of(country()))
        except (csv.Error, TooManyRecipients) as error:
            self._refuse("file", error)
            return Table()

    @property
    def is_sample(self) -> bool:
        """Whether only the first rows of a file are known."""
        return self.kind == "file" and not self.form["file_text"]

    @cached_property
    def phone_column(self) -> int | None:
        """The column of the phones; None if the person has to choose it."""
        chosen = self.form.place("phone_column")
        return self.table.phone_column if chosen is None else chosen

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column for each placeholder: the chosen one, or the one with its name."""
        columns = {}
        for name in self.placeholders:
            place = self.form.place(f"column_{name}")
            if f"column_{name}" not in self.form.values:
                place = self.table.column(name)
            if place is not None:
                columns[name] = place
        return columns

    @cached_property
    def recipients(self) -> list[Any]:
        """The recipients of a list or a file, as the API takes them.

        Empty, with an error in the form, if they are too many or cannot be read.
        """
        try:
            return self._read_recipients()
        except (csv.Error, TooManyRecipients) as error:
            self._refuse(self.kind, error)
            return []

    @property
    def group_id(self) -> str:
        """The chosen group; empty if none is."""
        return self.form["group_id"] if UUID_FORM.fullmatch(self.form["group_id"]) else ""

    @property
    def count(self) -> int | None:
        """How many recipients there are; None for a group, which the API counts."""
        if self.kind == "one":
            return int(bool(self.form["phone"].strip()))
        if self.kind == "group":
            return None
        rows = self.form.place("file_rows") if self.is_sample else None
        return len(self.recipients) if rows is None else rows

    def sample(self) -> list[dict[str, Any]]:
        """The first recipients of a list or a file, if the column of their phones is known."""
        if self.kind == "file" and self.phone_column is None:
            return []
        return [as_recipient(each) for each in self.recipients[:SAMPLE]]

    def one(self, recipient: Mapping[str, Any]) -> dict[str, Any]:
        """The request for one recipient only, to see their message."""
        return {**self._with_values(recipient), **self._content()}

    def several(self, recipients: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """The request for some recipients, to see which of them are left out."""
        return {"phones": [self._with_values(each) for each in recipients], **self._content()}

    def body(self) -> dict[str, Any]:
        """The whole request. Values that cannot be parsed are reported in the form's errors."""
        return {**self._recipients(), **self._content(), **self._options()}

    def _read_recipients(self) -> list[Any]:
        if self.kind == "file":
            place = -1 if self.phone_column is None else self.phone_column
            return list(recipients_of_table(self.table, place, self.columns))
        phones = phones_of_list(self.form["list"], country()) if self.kind == "list" else []
        if len(phones) > MOST_RECIPIENTS:
            raise TooManyRecipients
        return phones

    def _refuse(self, kind: str, error: Exception) -> None:
        """Say what is wrong with a list or a file. Only the list is kept, for it may have been typed."""
        too_many, not_csv = REFUSALS["too_many_recipients"], gettext("This is not a CSV file.")
        self.form.errors[kind] = str(too_many if isinstance(error, TooManyRecipients) else not_csv)
        for name in VALUES_OF_FILE if kind == "file" else ():
            self.form.values.poplist(name)

    def _with_values(self, recipient: Mapping[str, Any]) -> dict[str, Any]:
        """A recipient with the values that the message needs."""
        values = recipient.get("variables") or {}
        variables = {name: str(value) for name, value in values.items() if name in self.placeholders}
        return {"phone": recipient["phone"]} | ({"variables": variables} if variables else {})

    def _recipients(self) -> dict[str, Any]:
        if self.kind == "one":
            values = {name: self.form[f"value_{name}"] for name in self.placeholders if self.form.text(f"value_{name}")}
            phone = plain_phone(self.form["phone"], country())
            return {"phone": phone} | ({"variables": values} if values else {})
        if self.kind == "group":
            if not self.group_id:
                self.form.errors["group_id"] = gettext("Choose a group.")
            return {"group_id": self.group_id}
        if not self.recipients:
            self.form.errors.setdefault(self.kind, gettext("Add at least one recipient."))
        elif self.kind == "file" and self.phone_column is None:
            self.form.errors["phone_column"] = gettext("Choose the column with the phone numbers.")
        return {"phones": self.recipients}

    def _content(self) -> dict[str, Any]:
        if not self.form["sender_id"]:
            self.form.errors["sender_id"] = gettext("Choose a sender ID.")
        body: dict[str, Any] = {"sender_id": self.form["sender_id"], "message": self.message}
        for name in ("category", "on_unicode"):
            if self.form[name]:
                body[name] = self.form[name]
        return body

    def _options(self) -> dict[str, Any]:
        body: dict[str, Any] = {}
        if self.form["when"] == "later":
            body |= self._time("send_at")
        if self.form.text("reference"):
            body["reference"] = self.form.text("reference")
        if self.form.text("rate"):
            body["rate"] = as_number(self.form["rate"])
        if self.form.text("quiet_from") or self.form.text("quiet_until"):
            body |= self._quiet_hours()
        return body | self._rules_of_several()

    def _quiet_hours(self) -> dict[str, Any]:
        """Empty if they are wrong: the API would report the same errors again, in other words."""
        start, end = self.form["quiet_from"].strip(), self.form["quiet_until"].strip()
        if not TIME_OF_DAY.fullmatch(start):
            self.form.errors["quiet_from"] = gettext("Enter when quiet hours start.")
        if not TIME_OF_DAY.fullmatch(end):
            self.form.errors["quiet_until"] = gettext("Enter when quiet hours end.")
        elif start == end:
            self.form.errors["quiet_until"] = gettext("Quiet hours cannot start and end at the same time.")
        is_wrong = {"quiet_from", "quiet_until"} & self.form.errors.keys()
        return {} if is_wrong else {"quiet_hours": {"from": start, "until": end}}

    def _rules_of_several(self) -> dict[str, Any]:
        """Rules that need several recipients."""
        given = [name for name in ("canary", "stop_share", "stop_over") if self.form.text(name)]
        if self.kind == "one":
            text = gettext("This works only with several recipients. Leave it empty for one phone number.")
            self.form.errors.update(dict.fromkeys(given, text))
            return {}
        body: dict[str, Any] = {"canary": as_number(self.form["canary"])} if "canary" in given else {}
        if "stop_share" in given or "stop_over" in given:
            body["stop_if"] = self._stop_rule()
        return body

    def _stop_rule(self) -> dict[str, Any]:
        rule: dict[str, Any] = {}
        try:
            percentage = float(self.form["stop_share"].strip().rstrip("%").replace(",", "."))
            rule["failed_share"] = round(percentage * 100) / 10_000
        except (ValueError, OverflowError):
            rule["failed_share"] = 0
        if not 0 < rule["failed_share"] < 1:
            self.form.errors["stop_share"] = gettext("Enter a percentage between 0 and 100, such as 20.")
        if self.form.text("stop_over"):
            rule["min_messages"] = as_number(self.form["stop_over"])
        return rule

    def _time(self, name: str) -> dict[str, str]:
        try:
            return {name: utc_from_local(self.form[name])}
        except ValueError:
            self.form.errors[name] = gettext("Enter a date and a time.")
            return {}


def as_recipient(entry: Any) -> dict[str, Any]:
    """A recipient with its phone, and its values if it has any."""
    return {"phone": entry} if isinstance(entry, str) else entry
