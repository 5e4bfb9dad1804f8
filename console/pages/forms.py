"""What was typed into a form, and what is wrong with it."""

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bulksms_client.errors import ApiError
from flask import request
from werkzeug.datastructures import MultiDict

from console.pages.problems import SESSION_OVER, describe, describe_field, pointed_at
from console.session.shown_again import SHOWN_AGAIN

KEY = re.compile(r"[!-~]{1,255}", re.ASCII)
"""An Idempotency-Key."""
LONGEST_NUMBER = 9
"""Digits."""


def new_key() -> str:
    """A new Idempotency-Key, for a form that is about to be shown."""
    return str(uuid.uuid4())


def as_number(text: str) -> int | str:
    """A number for JSON; any other text unchanged, for the API to refuse."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER else text


class Form:
    """The values of a form, and the error of each field.

    `fields` maps the API's names to the form's, for those that differ: `{"phones": "recipients"}`. The name of a
    part of a field is written with a slash: `stop_if/min_messages`. An error of a field that the form does not have is
    in `problem`, above the form. `notice` is about a form that is only shown again. `rejected` has the recipients or
    contacts that were refused, each with its reason, and `candidates` the columns of a file that may have the phones.
    """

    def __init__(self, values: Mapping[str, str] | None = None, fields: Mapping[str, str] | None = None) -> None:
        self.values: MultiDict[str, str] = MultiDict(values or {})
        self.errors: dict[str, str] = {}
        self.problem = ""
        self.notice = ""
        self.rejected: list[Mapping[str, Any]] = []
        self.candidates: list[Mapping[str, Any]] = []
        self._fields = dict(fields or {})
        self.values.setdefault("key", new_key())

    @classmethod
    def posted(cls, fields: Mapping[str, str] | None = None) -> "Form":
        """The form of this request."""
        form = cls(fields=fields)
        key = form.values["key"]
        form.values = MultiDict(request.form)
        form.values.poplist(SHOWN_AGAIN)
        if not KEY.fullmatch(form["key"]):
            form.values["key"] = key
        return form

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def text(self, name: str) -> str | None:
        """A field's text without blanks around it; None if it is empty."""
        return self[name].strip() or None

    def code(self, name: str) -> str | None:
        """A code without blanks, which apps show in the middle of it; None if it is empty."""
        return "".join(self[name].split()) or None

    def place(self, name: str) -> int | None:
        """A field's value as an index, counted from 0; None if it is not one."""
        text = self[name]
        return int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else None

    def many(self, name: str) -> list[str]:
        """The values of a field that may be given several times."""
        return self.values.getlist(name)

    @property
    def key(self) -> str:
        """The Idempotency-Key of this form: sent twice, it has one effect."""
        return self["key"]

    @property
    def wrong(self) -> bool:
        """Whether something is wrong, or the form is only to be shown."""
        return bool(self.errors or self.problem or self.notice)

    def refuse(self, error: ApiError) -> "Form":
        """Show why the API has refused the form. Raises the error again if no change of the form would help."""
        if error.status < 400 or error.status == 404 or error.code in {"insufficient_scope", *SESSION_OVER}:
            raise error
        if error.code == SHOWN_AGAIN:
            self.notice = describe(error)
            return self
        named = self._named(error.problem.get("errors") or ())
        self.candidates = list(error.problem.get("candidates") or ())
        elsewhere = []
        for name, text in named.items():
            if name in self.values or name in self._fields.values():
                self.errors.setdefault(name, text)
            else:
                elsewhere.append(f"{name}: {text}" if name else text)
        if elsewhere:
            self.problem = " ".join(elsewhere)
        if not named:
            self.problem = describe(error)
            self.rejected = list(error.problem.get("rejected") or ())
        return self

    def refuse_password(self, error: ApiError, field: str, wrong_password: str = "") -> "Form":
        """The same; a wrong password or code is reported at its field, in these words if they are given."""
        self.refuse(error)
        if error.status == 401:
            is_password = wrong_password and error.code == "invalid_credentials"
            self.errors[field], self.problem = wrong_password if is_password else self.problem, ""
        return self

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask the API in the block. If it refuses, the form shows why, and the code after the block goes on."""
        try:
            yield
        except ApiError as error:
            self.refuse(error)

    def page(self, ask: Callable[[], Any]) -> Any:
        """A page of a list by the form's filters; an empty one if they are wrong, with the errors in the form."""
        if not self.wrong:
            with self.asking():
                return ask()
        return {"data": [], "next_cursor": None}

    def _named(self, errors: Any) -> dict[str, str]:
        """The first error of each field by its name in the form."""
        named: dict[str, str] = {}
        for each in errors:
            first, rest = pointed_at(each)
            name = self._fields.get(f"{first}/{rest}") or self._fields.get(first, first)
            named.setdefault(name, describe_field(each, rest))
        return named
