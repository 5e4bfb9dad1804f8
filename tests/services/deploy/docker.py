"""Docker, as far as deploy/replace-api.sh asks it: its containers of the API are processes of this machine.

A container is a file in the folder CONTAINERS, named by its id, with its process id; its address is 127.0.0.<id>.
"""

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

CONTAINERS = Path(os.environ["CONTAINERS"])
PORT = int(os.environ["API_PORT"])


def ids() -> list[str]:
    return sorted(path.name for path in CONTAINERS.iterdir() if path.name.isdecimal())


def address(container: str) -> str:
    return f"127.0.0.{container}"


def resolve() -> None:
    """Tell the name server."""
    addresses = Path(os.environ["ADDRESSES"])
    whole = addresses.with_suffix(".new")
    whole.write_text("".join(f"{address(each)}\n" for each in ids()))
    whole.rename(addresses)


def up(count: int) -> None:
    for _ in range(count - len(ids())):
        container = str(max(map(int, ids()), default=10) + 1)
        log = (CONTAINERS / f"{container}.log").open("w")
        command = [sys.executable, "-m", "api.server", "--host", address(container), "--port", str(PORT)]
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        (CONTAINERS / container).write_text(str(process.pid))
    resolve()


def health(container: str) -> str:
    connection = http.client.HTTPConnection(address(container), PORT, timeout=4)
    try:
        connection.request("GET", "/readyz")
        return "healthy" if connection.getresponse().status == 200 else "unhealthy"
    except (OSError, http.client.HTTPException):
        return "starting"


def stop(containers: list[str], number: signal.Signals) -> None:
    for container in containers:
        pid = int((CONTAINERS / container).read_text())
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        for _ in range(600):
            if has_ended(pid):
                break
            time.sleep(0.05)
        else:
            raise SystemExit(f"{container} had to be killed")


def has_ended(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def remove(containers: list[str]) -> None:
    for container in containers:
        (CONTAINERS / container).unlink()
    resolve()


def main(arguments: list[str]) -> None:
    match arguments:
        case ["compose", "ps", "--quiet", "api"]:
            print("\n".join(ids()))
        case ["compose", "up", "--detach", "--no-deps", "--no-recreate", "--scale", scale, "api"]:
            up(int(scale.removeprefix("api=")))
        case ["compose", "exec", "-T", "front", "sh", "/front.sh", *rest]:
            subprocess.run(["sh", os.environ["FRONT"], *rest], check=True)
        case ["inspect", "--format", "{{.State.Health.Status}}", container]:
            print(health(container))
        case ["inspect", "--format", text, *containers] if ".IPAddress" in text:
            print("\n".join(f"{address(each)} " for each in containers))
        case ["stop", "--time", "30", *containers]:
            stop(containers, signal.SIGTERM)
        case ["rm", "--force", *containers]:
            stop(containers, signal.SIGKILL)
            remove(containers)
        case ["rm", *containers]:
            remove(containers)
        case ["logs", "--tail", "20", container]:
            print((CONTAINERS / f"{container}.log").read_text()[-1000:])
        case _:
            raise SystemExit(f"docker was asked for {arguments}")


main(sys.argv[1:])
