"""The commands of docs/operating/backup.md, as they stand there, and where they run."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bulksms.local.os_user import OsUser
from bulksms.local.postgres import _binary

PAGE = Path("docs/operating/backup.md").read_text()
BLOCKS = [re.sub(r"(?m)^ {4}", "", block) for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)]
NAMES = {
    "dump": "pg_dump --format custom --file",
    "restore dump": "pg_restore --exit-on-error --no-owner --dbname",
    "set up archive": "archive_command",
    "watch archive": "pg_stat_archiver",
    "back up": "pg_basebackup",
    "delete old": "pg_archivecleanup",
    "restore": "recovery_target_time =",
    "wait": "pg_is_in_recovery",
    "show guard": "guard show",
    "release guard": "guard release",
    "top up": "bulksms account topup",
    "audit": "bulksms audit\n",
    "dump in compose": "docker compose exec -T postgres pg_dump",
    "restore in compose": "docker compose stop",
    "lost database in compose": "docker compose exec api sh",
}
"""A text that only this block of the page contains, by the block's name."""
BINARIES = Path(_binary("postgres")).parent
MYSELF = OsUser()
PATH = ":".join([str(BINARIES), str(Path(sys.executable).parent), os.environ["PATH"]])


def block(name: str) -> str:
    """The commands of one block."""
    (found,) = [each for each in BLOCKS if NAMES[name] in each]
    return found


def run(name: str, env: Mapping[str, str], folder: Path, os_user: OsUser = MYSELF) -> str:
    """Run the commands of a block. Returns what they print."""
    completed = subprocess.run(
        [*os_user.prefix, "bash", "-euc", block(name)],
        env={**os.environ, **env, "PATH": env.get("PATH", PATH)},
        cwd=folder,
        user=os_user.uid,
        group=os_user.gid,
        extra_groups=None if os_user.uid is None else [],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr + completed.stdout
    return completed.stdout
