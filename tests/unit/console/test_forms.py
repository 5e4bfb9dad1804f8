"""Errors of the API in a form."""

from collections.abc import Iterator

import pytest
from bulksms_client.errors import ApiError
from flask import Flask

from console.app import create_app
from console.pages.forms import Form
from console.settings import Settings


@pytest.fixture(scope="module")
def app() -> Flask:
    return create_app(Settings(secret_key="a-key-that-only-tests-of-forms-use-0123"))


@pytest.fixture(autouse=True)
def request_of_a_stranger(app: Flask) -> Iterator[None]:
    with app.test_request_context("/"):
        yield


def refused(form: Form, *names: str) -> Form:
    errors = [{"pointer": f"/{name}", "code": "invalid", "detail": f"Wrong {name}."} for name in names]
    return form.refuse(ApiError(400, {"code": "validation_failed", "errors": errors}))


def test_all_errors_of_fields_that_a_form_lacks_are_shown() -> None:
    form = refused(Form({"here": "x"}), "here", "first", "second")
    assert set(form.errors) == {"here"}
    assert "first: " in form.problem and "second: " in form.problem


@pytest.mark.parametrize("status", [200, 302])
def test_no_form_is_shown_for_a_response_that_is_not_the_api_s(status: int) -> None:
    with pytest.raises(ApiError, match="unknown"):
        Form({}).refuse(ApiError(status, {"code": "unknown"}))
