"""The environment in which the commands run."""

import pytest
from sqlalchemy import Engine

from bulksms.local.redis import RedisServer
from tests.harness.service import SECRET_KEY


@pytest.fixture
def environment(engine: Engine, redis_server: RedisServer) -> dict[str, str]:
    """The settings of an installation, without a carrier."""
    return {
        "DATABASE_URL": engine.url.render_as_string(hide_password=False),
        "REDIS_URL": redis_server.url,
        "SECRET_KEY": SECRET_KEY,
    }
