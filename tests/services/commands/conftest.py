"""The environment in which the commands run, and running them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from bulksms.cli import main
from bulksms.local.redis import RedisServer
from tests.harness.service import SECRET_KEY, Service

Run = Callable[..., Result]


def as_json(result: Result) -> Any:
    """What a command has printed as JSON."""
    return json.loads(result.stdout)


@pytest.fixture
def service(engine: Engine) -> Service:
    """A new account of the installation."""
    return Service(engine)


@pytest.fixture
def environment(engine: Engine, redis_server: RedisServer) -> dict[str, str]:
    """The settings of an installation with the simulated carrier."""
    return {
        "DATABASE_URL": engine.url.render_as_string(hide_password=False),
        "REDIS_URL": redis_server.url,
        "SECRET_KEY": SECRET_KEY,
        "CARRIER": "simulator",
    }


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Run a command. It must end with `code`, and not by a bug; `more` are other settings."""

    def call(*arguments: object, code: int = 0, **more: str) -> Result:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments], env={**environment, **more})
        assert result.exit_code == code, (arguments, result.exception, result.output)
        assert result.exception is None or isinstance(result.exception, SystemExit), (arguments, result.exception)
        return result

    return call
