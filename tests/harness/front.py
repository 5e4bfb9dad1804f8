"""deploy/nginx.conf and deploy/front.sh on this machine, in front of processes on loopback addresses of their own."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading
from pathlib import Path
from typing import BinaryIO

import psutil
import pytest

from bulksms.local.command import Command
from bulksms.local.ports import LOOPBACK, free_port, is_listening
from tests.harness.house import STOP_SECONDS, wait_until

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
WORKERS = 2
"""Processes of nginx that answer requests."""
GETENT = """#!/bin/sh
# The container engine's name server.
awk '{ print $1, "STREAM", "api" }' "$ADDRESSES"
"""


class Front:
    """nginx as the container `front` has it; ports and folders are the test's.

    `api_port` is the port of the API on each of `addresses`.
    """

    def __init__(self, folder: Path, api_port: int, **env: str) -> None:
        folder.mkdir()
        self.port, self.tls_port, self.api_port = free_port(), free_port(), api_port
        self._folder = folder
        self._addresses = folder / "addresses"
        self.addresses: list[str] = []
        (folder / "bin").mkdir()
        (folder / "run").mkdir()
        self._program("getent", GETENT)
        self._program("nginx", f'#!/bin/sh\nexec {NGINX} -c {folder / "nginx.conf"} "$@"\n')
        self.script = self._program("front.sh", self._here(Path("deploy/front.sh").read_text()))
        (folder / "nginx.conf").write_text(self._settings())
        path = f"{folder / 'bin'}:/usr/sbin:/sbin:{os.environ['PATH']}"
        self.env = {**os.environ, **env, "PATH": path, "ADDRESSES": str(self._addresses)}
        self._nginx = Command(
            "nginx", ["sh", str(self.script)], self.env, folder / "nginx.log", folder, lambda: is_listening(self.port)
        )

    def _program(self, name: str, text: str) -> Path:
        path = self._folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def _here(self, text: str) -> str:
        """With this test's folder and ports."""
        text = text.replace("/run/front", str(self._folder / "run"))
        text = text.replace("listen 8443", f"listen {LOOPBACK}:{self.tls_port}")
        return re.sub(":8000(?=[ /])", f":{self.api_port}", text)

    def _settings(self) -> str:
        text = self._here(Path("deploy/nginx.conf").read_text())
        text = text.replace("listen 8000;", f"listen {LOOPBACK}:{self.port};")
        text = text.replace("listen 127.0.0.1:8001;", f"listen {LOOPBACK}:{free_port()};")
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{kind}_temp_path {self._folder / 'run' / kind};\n" for kind in kinds)
        text = text.replace("worker_processes auto;", f"worker_processes {WORKERS};")
        user = "user root;\n" if os.geteuid() == 0 else ""
        return user + text.replace("http {\n", f"error_log stderr;\nhttp {{\n{paths}", 1)

    def resolve_to(self, *addresses: str) -> None:
        """What the name server says from now on."""
        self.addresses = list(addresses)
        whole = self._addresses.with_suffix(".new")
        whole.write_text("".join(f"{address}\n" for address in addresses))
        whole.rename(self._addresses)

    def use(self, *addresses: str, line: str) -> None:
        """Give the API these addresses, and wait until nginx chooses from servers with this line.

        The processes of the configuration before have then ended.
        """
        before = self.workers()
        self.resolve_to(*addresses)
        wait_until(lambda: line in self.servers(), 60, "the look-up")
        wait_until(lambda: not before & self.workers(), 60, "the end of the processes before")

    def look_up(self) -> None:
        """Wait until it has looked up the addresses once more, from the beginning to the end."""
        for _ in range(2):
            before = self._looked_up()
            wait_until(lambda before=before: self._looked_up() > before, 60, "a look-up")

    def _looked_up(self) -> int:
        return (self._folder / "run" / "api.conf").stat().st_mtime_ns

    def log(self) -> str:
        """The end of what it has logged."""
        return self._nginx.log_tail()

    def start(self) -> None:
        """Start, and wait until it listens."""
        self._nginx.launch()
        self._nginx.wait_ready(60)
        wait_until(lambda: len(self.workers()) == WORKERS, 60, "the processes that answer requests")

    def leave(self, *addresses: str) -> None:
        """Send no more requests to these."""
        subprocess.run(["sh", str(self.script), "leave", *addresses], env=self.env, check=True, timeout=120)

    def servers(self) -> str:
        """The servers that nginx chooses from."""
        return (self._folder / "run" / "api.conf").read_text()

    def server(self, address: str) -> str:
        """The beginning of the line of a server that gets requests."""
        return f"server {address}:{self.api_port} max_fails"

    def leaving(self) -> set[str]:
        """The addresses that get no more requests until the name server lacks them."""
        return {file.name for file in (self._folder / "run" / "leaving").iterdir()}

    def workers(self) -> set[int]:
        """The processes that answer requests."""
        watcher = int((self._folder / "run" / "watcher.pid").read_text())
        return {each.pid for each in psutil.Process(self._nginx.pid).children()} - {watcher}

    def stop(self) -> None:
        """Stop it."""
        assert self._nginx.stop(timeout=STOP_SECONDS), self._nginx.log_tail()


class Upstream(threading.Thread):
    """Something that the front takes for an API: keeps each request whole, and answers 204 or, on request, nothing.

    The front's own question whether it is there is always answered.
    """

    def __init__(self, address: str, port: int, *, responds: bool = True) -> None:
        super().__init__(daemon=True)
        self.responds = responds
        self.connections = 0
        self.requests: list[str] = []
        self._listening = socket.create_server((address, port), backlog=50)

    def run(self) -> None:
        with self._listening:
            while True:
                try:
                    connection, _ = self._listening.accept()
                except OSError:
                    return
                with contextlib.suppress(ConnectionError), connection, connection.makefile("rb") as stream:
                    head = self._head(stream)
                    if head.startswith("GET /healthz") and "User-Agent: Wget" in head:
                        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                        continue
                    self.connections += 1
                    length = re.search(r"(?i)^content-length: (\d+)", head, re.M)
                    self.requests.append(head + stream.read(int(length[1]) if length else 0).decode())
                    if self.responds:
                        connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

    @staticmethod
    def _head(stream: BinaryIO) -> str:
        """The lines before the body. Raises ConnectionError if the client leaves before."""
        lines: list[bytes] = []
        while (line := stream.readline()) != b"\r\n":
            if not line:
                raise ConnectionError("the client has left")
            lines.append(line)
        return b"".join(lines).decode()

    def stop(self) -> None:
        """Stop listening."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
