"""What the words of the API mean, each said once, with an example: for the OpenAPI document."""

from typing import Final

from api.openapi.fields import (
    api_keys,
    carriers,
    core,
    encoding,
    groups,
    imports,
    inbound,
    limits,
    messages,
    privacy,
    rules,
    senders,
    suppressions,
    usage,
    webhooks,
)
from api.openapi.fields.core import Word

WORDS: Final[dict[str, Word]] = {
    **core.WORDS,
    **encoding.WORDS,
    **usage.WORDS,
    **api_keys.WORDS,
    **carriers.WORDS,
    **inbound.WORDS,
    **groups.WORDS,
    **imports.WORDS,
    **limits.WORDS,
    **messages.WORDS,
    **rules.WORDS,
    **privacy.WORDS,
    **senders.WORDS,
    **suppressions.WORDS,
    **webhooks.WORDS,
}
