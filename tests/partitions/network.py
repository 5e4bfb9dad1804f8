"""Hosts as network namespaces on one bridge, and cuts between two of them. It takes root and `ip` of iproute2.

The test's own process is beside them on the bridge, where no cut reaches it.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

CLONE_NEWNET = 0x40000000
NETWORKS = 256
NOBODY = "02:00:00:00:00:ff"
"""An address that no network card has."""
LIBC = ctypes.CDLL(None, use_errno=True)


class NoNetwork(Exception):
    """Network namespaces cannot be made here; says why."""


class Network:
    """A bridge with one network namespace for each host, in a network that is reserved for measurements (RFC 2544).

    Raises NoNetwork.
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        self._number = _new_bridge()
        self._hosts: list[str] = []
        try:
            _ip(f"addr add {self._address(1)}/24 dev {self._name}")
            _ip(f"link set {self._name} up")
            for host in hosts:
                self._add(host)
        except subprocess.CalledProcessError as error:
            self.close()
            raise NoNetwork(_said(error)) from None

    def address(self, host: str) -> str:
        """The host's IPv4 address."""
        return self._address(self._hosts.index(host) + 2)

    @contextlib.contextmanager
    def inside(self, host: str) -> Iterator[None]:
        """Context in which the sockets that this thread opens, and the processes that it starts, are on the host."""
        with Path("/proc/thread-self/ns/net").open() as here, Path("/run/netns", self._namespace(host)).open() as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(here.fileno())

    def cut(self, source: str, target: str) -> None:
        """Lose everything that one host sends to another, in silence. The other way stays as it is."""
        _ip(f"-n {self._namespace(source)} neigh replace {self.address(target)} lladdr {NOBODY} dev eth0 nud permanent")

    def heal(self, source: str, target: str) -> None:
        """Undo a cut."""
        _ip(f"-n {self._namespace(source)} neigh del {self.address(target)} dev eth0")

    def close(self) -> None:
        """Remove the bridge and the hosts, with their cables."""
        for host in self._hosts:
            _ip(f"link del {self._cable(host)}")  # a namespace's own end would go some time after it
            _ip(f"netns del {self._namespace(host)}")
        _ip(f"link del {self._name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _name(self) -> str:
        return f"bulksms{self._number}"

    def _namespace(self, host: str) -> str:
        return f"{self._name}-{host}"

    def _cable(self, host: str) -> str:
        return f"{self._name}-{self._hosts.index(host)}"

    def _address(self, number: int) -> str:
        return f"198.18.{self._number}.{number}"

    def _add(self, host: str) -> None:
        namespace = self._namespace(host)
        _ip(f"netns add {namespace}")
        self._hosts.append(host)
        _ip(f"link add {self._cable(host)} type veth peer name eth0 netns {namespace}")
        _ip(f"link set {self._cable(host)} master {self._name} up")
        _ip(f"-n {namespace} addr add {self.address(host)}/24 dev eth0")
        _ip(f"-n {namespace} link set lo up")
        _ip(f"-n {namespace} link set eth0 up")


def _new_bridge() -> int:
    """The number of a new bridge: another run may have the first ones."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise NoNetwork("network namespaces take root and `ip` of iproute2")
    for number in range(NETWORKS):
        try:
            _ip(f"link add bulksms{number} type bridge")
        except subprocess.CalledProcessError as error:
            if "File exists" not in error.stderr:
                raise NoNetwork(_said(error)) from None
        else:
            return number
    raise NoNetwork("every bridge's name is taken")


def _ip(arguments: str) -> None:
    """Run `ip`. Raises CalledProcessError with what it says."""
    subprocess.run(["ip", *arguments.split()], capture_output=True, text=True, timeout=30, check=True)


def _said(error: subprocess.CalledProcessError) -> str:
    return f"`{' '.join(error.cmd)}`: {error.stderr.strip()}"


def _enter(namespace: int) -> None:
    """Move this thread to a network namespace (setns(2))."""
    if LIBC.setns(namespace, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
