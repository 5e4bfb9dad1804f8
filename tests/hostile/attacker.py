"""The attacking process: `python -m tests.hostile.attacker NAME`.

It prints a line when it is loaded. What it attacks then comes as JSON on its standard input. It prints a line when it
is connected, goes on until its standard input is closed, and then prints what it did as JSON.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict
from typing import Self

from shared.priority import lower_priority
from tests.hostile.scenarios import BY_NAME
from tests.hostile.wire import Target, Wire

NICENESS = 10
"""The attacker's own work is another machine's, and should take little of this one's."""
LONGER = 60.0
CLEAN_UP = 30
END_SECONDS = 180


async def attack(name: str, wire: Wire) -> None:
    """Attack until standard input is closed, and then at most LONGER until what must come back has come."""
    scenario = BY_NAME[name]
    over = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    attacking = asyncio.ensure_future(scenario.attack(wire))
    while not wire.counts["connections"] and not attacking.done():
        await asyncio.sleep(0.01)
    print("connected", flush=True)
    await asyncio.wait([attacking, over], return_when=asyncio.FIRST_COMPLETED)
    deadline = time.monotonic() + LONGER
    while any(scenario.no_attack(wire.counts)) and not attacking.done() and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    held = wire.counts["held"]
    attacking.cancel()
    with contextlib.suppress(asyncio.CancelledError, TimeoutError):
        await asyncio.wait_for(attacking, CLEAN_UP)
    wire.counts["held"] = held


class Attacker:
    """An attack in a process of its own. It is loaded when the block begins, and ends with it at the latest."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.hostile.attacker", self._name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            self._wait_for("loaded\n")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()

    def begin(self, target: Target) -> None:
        """Attack; returns when it is connected."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(target)) + "\n")
        self._process.stdin.flush()
        self._wait_for("connected\n")

    def end(self) -> Counter[str]:
        """End the attack. Returns what it did."""
        output, _ = self._process.communicate(timeout=END_SECONDS)
        assert self._process.returncode == 0, f"the attack {self._name} failed"
        return Counter(json.loads(output))

    def _wait_for(self, line: str) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == line, f"the attack {self._name} did not begin"


def main() -> None:
    """Attack, then tell."""
    print("loaded", flush=True)
    lower_priority(NICENESS)
    wire = Wire(Target(**json.loads(sys.stdin.readline())))
    asyncio.run(attack(sys.argv[1], wire))
    print(json.dumps(wire.counts), flush=True)
    os._exit(0)  # connections that are open end with the process, not one by one


if __name__ == "__main__":
    main()
