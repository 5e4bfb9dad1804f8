"""An ASGI application on a port of its own, served by uvicorn on the running event loop, as the API's processes do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from api.server.process import configuration
from api.server.reuse_port import bound_socket
from bulksms.local.ports import LOOPBACK


@asynccontextmanager
async def served(application: Any) -> AsyncIterator[int]:
    """The port. At the end, open requests are waited for."""
    listening = bound_socket(LOOPBACK, 0)
    server = uvicorn.Server(configuration(lambda: application))
    serving = asyncio.create_task(server.serve([listening]))
    port = listening.getsockname()[1]
    async with asyncio.timeout(60):
        while not server.started:
            await asyncio.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        await serving
