"""What the API's processes load: it delays their start and stays in their memory."""

import subprocess
import sys

RARE = {"aiohttp", "opentelemetry"}


def loaded_by(module: str) -> set[str]:
    """The modules that a process has loaded after this one."""
    show = f"import sys, {module}; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True).stdout
    return set(shown.split())


def test_the_supervisor_loads_none_of_the_application() -> None:
    """Each process loads this too, before it can answer its supervisor."""
    assert not {"api.endpoint", "flask", *RARE} & loaded_by("api.server.__main__")


def test_a_process_loads_the_application_and_nothing_that_is_rarely_used() -> None:
    loaded = loaded_by("api.server.asgi")
    assert {"api.endpoint", "shared.oidc.provider"} <= loaded
    assert not RARE & loaded
