"""The text that `bulksms up` prints when everything runs."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from bulksms.local.demo import EMAIL

GET_TOKEN = (
    'TOKEN=$(curl -s -X POST $URL/auth/token -H "X-API-Key: $KEY" -H "X-API-Secret: $SECRET" | cut -d \'"\' -f 4)'
)
"""Shell command that sets TOKEN to an access token."""
POST = """curl -s $URL/sms/send -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json'"""
SHOW = 'curl -s $URL/messages -H "Authorization: Bearer $TOKEN"; echo'


PHONE = "254711000000"
"""Recipient of the first message to the simulated carrier."""


def banner(demo: Mapping[str, str], var: Path, carriers_file: str = "", console_url: str = "") -> str:
    """The addresses of the service and its console, shell commands that send a first message, and a link to sign in.

    With `carriers_file` messages reach real phones, so the reader has to fill in the phone. If the account of the demo
    cannot send, the banner says why instead.
    """
    base = demo["base_url"].rstrip("/")
    console = f"Its console is at {console_url}\n" if console_url else ""
    if demo.get("smpp_port"):
        console += (
            f"Its SMPP server is at 127.0.0.1:{demo['smpp_port']}: {demo['smpp_system_id']}, {demo['smpp_password']}\n"
        )
    return f"""
Bulk SMS is ready at {base}   (API reference: {base}/reference, logs: {var / "log"}, your data: {var})
{console}
{demo.get("unusable") or _first_send(base, demo, carriers_file)}
{_sign_in(demo)}
Another terminal gets the same environment with: . {shlex.quote(str(var / "env"))}
Ctrl-C stops everything; the data stays.
"""


def _first_send(base: str, demo: Mapping[str, str], carriers_file: str) -> str:
    """The commands that send a first message, and where it goes."""
    if carriers_file:
        where = f"the carriers of {carriers_file}. It reaches a phone and may cost\nmoney, so fill in your own number"
    else:
        where = "the simulated carrier (it reaches no phone)"
    return f"""Paste this to send a message to {where}:

{variables(base, demo)}
{GET_TOKEN}
{send_command(demo["sender_id"], "YOUR_PHONE" if carriers_file else PHONE)}
{SHOW}"""


def _sign_in(demo: Mapping[str, str]) -> str:
    """The paragraph about the sign-in link; empty if the person of the demo is disabled."""
    if not demo["sign_in_url"]:
        return ""
    return f"""
Sign in as {EMAIL} with this link, which works once within a day; `bulksms person link {EMAIL}` makes another:

{demo["sign_in_url"]}
"""


def variables(base: str, demo: Mapping[str, str]) -> str:
    """Shell assignments of the address and the key."""
    values = {"URL": f"{base}/api/v1", "KEY": demo["api_key"], "SECRET": demo["api_secret"]}
    return "; ".join(f"{name}={shlex.quote(value)}" for name, value in values.items())


def send_command(sender: str, phone: str = PHONE) -> str:
    """Shell command that sends one message with TOKEN."""
    body = json.dumps({"sender_id": sender, "phone": phone, "message": "Hello"})
    return f"{POST} -d {shlex.quote(body)}; echo"
