"""The files generated from the OpenAPI document, with their contents."""

import json
from pathlib import Path

import api.resources  # noqa: F401 - declares the endpoints
from api.openapi.document import document
from clients.making.typescript import operations_js, schema_d_ts

ROOT = Path(__file__).parent.parent


def made_files() -> dict[str, str]:
    """The content of each generated file, by its path below `clients/`."""
    described = json.loads(json.dumps(document()))
    return {
        "typescript/operations.js": operations_js(described),
        "typescript/schema.d.ts": schema_d_ts(described),
    }
