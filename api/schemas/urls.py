"""Addresses that events are posted to, as requests give them."""

from typing import Any

from marshmallow import fields

from api.schemas.base import fail
from shared.events.webhook_urls import url_problem


class WebhookUrl(fields.String):
    """An https address that everybody can find. Whether this machine's are allowed is the installation's to say."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        url = super()._deserialize(value, attr, data, **kwargs)
        problem = url_problem(url, loopback=True)
        if problem is not None:
            raise fail("invalid_url", problem)
        return url
