"""Runs a command under the system call filter of a systemd unit: `python -m tests.harness.confined UNIT COMMAND ...`.

systemd itself is not needed, only its list of calls (`systemd-analyze syscall-filter`) and libseccomp.
"""

import ctypes
import errno
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from ctypes.util import find_library
from pathlib import Path

NO_NEW_PRIVILEGES = 38
"""PR_SET_NO_NEW_PRIVS of linux/prctl.h."""
ALLOW, FAIL = 0x7FFF0000, 0x00050000
"""SCMP_ACT_ALLOW, and SCMP_ACT_ERRNO without its error number, of seccomp.h."""


def call_groups() -> dict[str, list[str]]:
    """systemd's groups of system calls, such as @resources, with what they list: calls and other groups."""
    groups: dict[str, list[str]] = {}
    members: list[str] = []
    for line in subprocess.check_output(["systemd-analyze", "syscall-filter"], text=True).splitlines():
        if line.startswith("@"):
            members = groups[line.strip()] = []
        elif name := line.partition("#")[0].strip():
            members.append(name)
    return groups


def calls_of(name: str, groups: Mapping[str, list[str]]) -> set[str]:
    """The system calls of a group, or the call of that name."""
    if not name.startswith("@"):
        return {name}
    return {call for each in groups[name] for call in calls_of(each, groups)}


def allowed_calls(unit: Path) -> set[str]:
    """What the SystemCallFilter lines of a unit allow. The first must be a list of allowed calls."""
    allowed, groups = set[str](), call_groups()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit.read_text(), re.M):
        named = {call for name in line.removeprefix("~").split() for call in calls_of(name, groups)}
        allowed = allowed - named if line.startswith("~") else allowed | named
    assert allowed, f"{unit} has no list of allowed calls"
    return allowed


def confine(unit: Path) -> None:
    """Let this process, and all that it starts, make only the calls that the unit allows."""
    number = re.search(r"^SystemCallErrorNumber=(\w+)$", unit.read_text(), re.M)
    assert number is not None
    error: int = getattr(errno, number[1])
    library = ctypes.CDLL(find_library("seccomp"), use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(FAIL | error)))
    for call in sorted(allowed_calls(unit)):
        call_number = library.seccomp_syscall_resolve_name(call.encode())
        if call_number >= 0:  # the others belong to another architecture
            assert library.seccomp_rule_add(rules, ctypes.c_uint32(ALLOW), call_number, 0) == 0, call
    assert ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    assert library.seccomp_load(rules) == 0


if __name__ == "__main__":
    confine(Path(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
