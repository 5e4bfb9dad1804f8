"""The operations of the two APIs, as they are declared by api/endpoint.py."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from marshmallow import Schema
from marshmallow.fields import List

from api.auth.caller import Caller
from api.auth.operator_tokens import Operator
from api.http.request import Request
from api.schemas.paging import Pages

Function = Callable[..., Any]
VARIABLE = re.compile(r"<(?:(\w+):)?(\w+)>")
"""A variable of a path: its converter, if it is not a plain string, and its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Api:
    """The operations under one prefix, and the function that authenticates a request's caller for a scope."""

    prefix: str
    authenticate: Callable[[Request, str], Caller | Operator]
    operations: list["Endpoint"] = field(default_factory=list, repr=False)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation of an API."""

    api: Api
    method: str
    path: str
    function: Function
    """Its name is the `operationId` of the OpenAPI document, and clients name their methods so: a verb and its object.
    No schema may have the same name, because client generators put both into one namespace."""
    body: type[Schema] | None
    query: type[Schema] | None
    response: type[Schema]
    pages: Pages | None
    """The order of a list that is read page by page."""
    errors: tuple[str, ...]
    scope: str | None
    session: bool
    """Whether a person calls it with the token of their session."""
    large: bool

    @property
    def is_list(self) -> bool:
        """Whether its response is a list of objects, of which there may be any number."""
        return _is_list(self.response)

    @property
    def url_template(self) -> str:
        """The whole path, with its variables in braces."""
        return VARIABLE.sub(r"{\2}", self.api.prefix + self.path)

    @property
    def variables(self) -> dict[str, str]:
        """The names of the path's variables, each with its converter; empty for a plain string."""
        return {name: converter for converter, name in VARIABLE.findall(self.path)}


@cache
def _is_list(response: type[Schema]) -> bool:
    return isinstance(response().fields.get("data"), List)
