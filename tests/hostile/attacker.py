"""The attacking process: `python -m tests.hostile.attacker NAME`.

What it attacks comes as JSON on its standard input. It prints a line when it is connected, goes on until its standard
input is closed, and then prints what it did as JSON.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

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


@contextlib.contextmanager
def attacking(name: str, target: Target, counts: Counter[str]) -> Iterator[None]:
    """The attack in a process of its own, during the block. `counts` gets what it did."""
    command = [sys.executable, "-m", "tests.hostile.attacker", name]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps(asdict(target)) + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "connected\n", f"the attack {name} did not begin"
        yield
        output, _ = process.communicate(timeout=END_SECONDS)
        assert process.returncode == 0, f"the attack {name} failed"
        counts.update(json.loads(output))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def main() -> None:
    """Attack, then tell."""
    lower_priority(NICENESS)
    wire = Wire(Target(**json.loads(sys.stdin.readline())))
    asyncio.run(attack(sys.argv[1], wire))
    print(json.dumps(wire.counts), flush=True)
    os._exit(0)  # connections that are open end with the process, not one by one


if __name__ == "__main__":
    main()
