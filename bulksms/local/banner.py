"""What `bulksms up` prints once everything runs."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

JSON = "-H 'Content-Type: application/json'"
READ_TOKEN = r"""sed -n 's/.*"access_token": *"\([^"]*\)".*/\1/p'"""


def banner(demo: Mapping[str, str], var: Path) -> str:
    """Where the service is, and two commands that send a first message when pasted into a shell."""
    base = demo["base_url"].rstrip("/")
    return f"""
Bulk SMS is ready at {base}   (documentation: {base}/docs, logs: {var / "log"}, your data: {var})

Paste this to send a message to the simulated carrier:

{token_command(base, demo)}
{send_command(base, demo)}

Another terminal gets the same environment with: . {shlex.quote(str(var / "env"))}
Ctrl-C stops everything; the data stays.
"""


def token_command(base: str, demo: Mapping[str, str]) -> str:
    """A shell command that puts an access token into TOKEN."""
    body = _quoted({"api_key": demo["api_key"], "api_secret": demo["api_secret"]})
    return f"TOKEN=$(curl -s {base}/api/v1/auth/token {JSON} -d {body} | {READ_TOKEN})"


def send_command(base: str, demo: Mapping[str, str]) -> str:
    """A shell command that sends one message with TOKEN."""
    body = _quoted({"sender_id": demo["sender_id"], "phone": "254711000000", "message": "Hello"})
    return f'curl -s {base}/api/v1/sms/send -H "Authorization: Bearer $TOKEN" {JSON} -d {body}; echo'


def _quoted(body: Mapping[str, str]) -> str:
    return shlex.quote(json.dumps(body))
