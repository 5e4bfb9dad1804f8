"""Files of a local installation: secrets, locks and logs."""

import fcntl
import os
import secrets
import shutil
import time
from pathlib import Path
from zlib import crc32

from bulksms.local.errors import LocalError

SHARED_MEMORY = Path("/dev/shm")
LOG_LIMIT = 20 * 1024 * 1024
"""Size in bytes above which a log is rotated at the next start of its process."""


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically. Raises OSError, always with the path."""
    staged = path.with_name(path.name + ".new")
    try:
        staged.unlink(missing_ok=True)
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def secret(path: Path) -> str:
    """The secret in the file, 64 hexadecimal digits; generated at the first call."""
    if not path.exists():
        write_private(path, secrets.token_hex(32) + "\n")
    return path.read_text().strip()


def metrics_directory(var: Path) -> Path:
    """Where the service in `var` keeps its metrics: in memory, if the system has a folder for that."""
    name = f"bulksms-{os.getuid()}-{crc32(bytes(var)):08x}"
    return SHARED_MEMORY / name if SHARED_MEMORY.is_dir() else var / "metrics"


def remove_metrics(directory: Path) -> None:
    """Remove the directory of the metrics. Raises LocalError if the directory belongs to another user."""
    try:
        if directory.lstat().st_uid != os.getuid():
            raise LocalError(f"{directory} belongs to another user. Remove it, or have it removed.")
    except FileNotFoundError:
        return
    shutil.rmtree(directory)


def open_log(path: Path) -> tuple[int, int]:
    """Open a log for appending. Returns its descriptor and size in bytes. A large log is moved to `<name>.1`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > LOG_LIMIT:
        path.replace(path.with_name(path.name + ".1"))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return descriptor, os.fstat(descriptor).st_size


def tail(path: Path, since: int = 0, lines: int = 15) -> str:
    """The last lines of a log, without its first `since` bytes."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(since, end - 16_384, 0))
            text = file.read().decode(errors="replace")
    except OSError:
        return "(no log)"
    return "\n".join(text.splitlines()[-lines:]) or "(the log is empty)"


class Lock:
    """A lock file, held by this process and by every child that inherits its descriptor.

    The kernel releases it when the last holder has ended, so a killed process leaves no stale lock.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """Descriptor for `pass_fds` of a child that is to hold the lock as long as it lives."""
        assert self._descriptor is not None
        return self._descriptor

    def acquire(self, busy: str, timeout: float = 0.0) -> None:
        """Acquire the lock.

        Raises LocalError with the text `busy`, in which {pid} is the holder, if a live process holds it. Children that
        outlived a dead holder have `timeout` seconds to end.
        """
        self.release()
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                holder = os.pread(descriptor, 32, 0).decode().strip()
                if _alive(holder) or time.monotonic() > deadline:
                    os.close(descriptor)
                    raise LocalError(busy.replace("{pid}", holder or "unknown")) from None
                time.sleep(0.05)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock; children that inherited the descriptor hold it until they end."""
        if self._descriptor is None:
            return
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        self._descriptor = None


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
