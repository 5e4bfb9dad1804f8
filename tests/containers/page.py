"""What docs/operating/deployment.md tells its reader to do."""

import re
from pathlib import Path

PAGE = Path("docs/operating/deployment.md")


def section(title: str) -> str:
    """The text below a heading."""
    return PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]


def first_start() -> tuple[str, list[str], list[str]]:
    """The command that makes `.env`, those that start the service, and those that add the first account."""
    start, account = re.findall(r"^```sh\n(.*?)^```", section("First start"), re.M | re.S)
    make, *others = start.splitlines()
    return make, others, account.splitlines()


def tls() -> str:
    """The lines of `.env` for TLS in this nginx."""
    return "\n".join(re.findall(r"^    (TLS_\w+=.*)$", section("TLS and client addresses"), re.M))


def command(beginning: str) -> str:
    """The first command on the page that begins so."""
    found = re.search(rf"^ *`?({re.escape(beginning)}[^`\n#]*)", PAGE.read_text(), re.M)
    assert found is not None, f"{PAGE} has no `{beginning}`"
    return found[1].strip()
