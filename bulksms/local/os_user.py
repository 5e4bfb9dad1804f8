"""The user that runs Postgres. Postgres refuses root, so root runs it as nobody."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NOBODY = 65534


@dataclass(frozen=True, slots=True)
class OsUser:
    """A command prefix, and the user and group of the process (None: those of this process)."""

    prefix: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None

    def own(self, folder: Path) -> None:
        """Change the owner of the folder and everything in it to this user."""
        if self.uid is None or self.gid is None:
            return
        for path in _walk(folder):
            os.chown(path, self.uid, self.gid, follow_symlinks=False)


def unprivileged(data_dir: Path) -> OsUser:
    """A user that Postgres accepts and that can use the data folder.

    For root a user namespace is best: root's files belong to nobody in it, so no ownership or permission has to change.
    Containers that forbid it need a real change of user.
    """
    if os.geteuid() != 0:
        return OsUser()
    if data_dir.exists() and data_dir.stat().st_uid != 0:
        owner = data_dir.stat()
        return OsUser(uid=owner.st_uid, gid=owner.st_gid)
    unshare = _namespace_command()
    if unshare:
        return OsUser(prefix=unshare)
    nobody = pwd.getpwnam("nobody")
    return OsUser(uid=nobody.pw_uid, gid=nobody.pw_gid)


@cache
def _namespace_command() -> tuple[str, ...]:
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    command = (unshare, "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")
    trial = subprocess.run([*command, "true"], capture_output=True, timeout=10, check=False)
    return command if trial.returncode == 0 else ()


def _walk(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.rglob("*")
