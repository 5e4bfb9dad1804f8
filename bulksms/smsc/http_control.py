"""An HTTP interface of a simulated SMSC, for its counters and for messages from phones.

GET  /         the counters
POST /inbound  {"phone": "254711000000", "recipient": "ACME", "message": "STOP"}
"""

from aiohttp import web

from bulksms.smsc.server import Smsc


async def serve_http(smsc: Smsc, port: int) -> web.AppRunner:
    """Listen on the port. Raises OSError if it is in use."""

    async def counters(request: web.Request) -> web.Response:
        return web.json_response(smsc.records.as_json())

    async def inbound(request: web.Request) -> web.Response:
        try:
            document = await request.json()
            smsc.receive_inbound(str(document["phone"]), str(document["recipient"]), str(document["message"]))
        except (ValueError, KeyError, TypeError) as error:
            return web.json_response({"error": f"give phone, recipient and message: {error}"}, status=400)
        return web.json_response({"spoken": True})

    application = web.Application()
    application.add_routes([web.get("/", counters), web.post("/inbound", inbound)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, smsc.settings.host, port).start()
    return runner
