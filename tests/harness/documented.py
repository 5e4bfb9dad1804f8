"""Holds each JSON response to the schema that its endpoint declares, which is also what the OpenAPI document says."""

from functools import cache

from flask import Flask
from marshmallow import Schema
from werkzeug.test import TestResponse

from api.endpoint import CUSTOMERS, OPERATORS


@cache
def _schemas() -> dict[str, Schema]:
    declared = [*CUSTOMERS.operations, *OPERATORS.operations]
    return {f"{each.method} {each.api.prefix}{each.path}": each.response() for each in declared}


def documented(app: Flask, response: TestResponse) -> TestResponse:
    """The response, if it is as its schema says: all its fields are known, and dumped again they are the same.

    Every 401 says how to authenticate.
    """
    if response.status_code == 200 and response.is_json:
        request = response.request
        name, _ = app.url_map.bind("localhost").match(request.path, method=request.method)
        schema = _schemas()[str(name)]
        assert schema.dump(schema.load(response.json)) == response.json, f"{name} is not as its schema says"
    if response.status_code == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    return response
