"""Traces for OpenTelemetry. Off, unless OTEL_EXPORTER_OTLP_ENDPOINT is set: `tracer` is then None, which is all that
callers check, and no package of OpenTelemetry is imported.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from shared.environment import SettingsError

if TYPE_CHECKING:
    from shared.observability.otlp_tracer import Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

tracer: "Tracer | None" = None
"""Begins the spans of this process; None while traces are off."""


def are_traces_on() -> bool:
    """Whether the environment turns traces on. Raises SettingsError if the packages are missing."""
    endpoint = next((name for name in ENDPOINTS if os.environ.get(name)), None)
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if endpoint is None or is_off or os.environ.get("OTEL_TRACES_EXPORTER", "").strip() == "none":
        return False
    try:
        import_module("shared.observability.otlp_tracer")
    except ImportError:
        raise SettingsError(
            f"{endpoint} is set, but the packages for traces are not installed. Install them with"
            " `pip install '/path/to/bulksms[traces]'` (docs/operating/traces.md), or remove the variable."
        ) from None
    return True


def start_traces(process: str) -> None:
    """Begin to trace, if the environment says so, as the service `bulksms-PROCESS`.

    Raises SettingsError if the packages are missing, or OpenTelemetry refuses its settings.
    """
    global tracer
    if not are_traces_on():
        return
    from shared.observability.otlp_tracer import Tracer

    try:
        tracer = Tracer(f"bulksms-{process}")
    except ValueError as error:
        raise SettingsError(f"OpenTelemetry refuses an OTEL_ variable: {error}") from None


def stop_traces() -> None:
    """Export the last spans before the process ends. Waits a few seconds at most."""
    if tracer is not None:
        tracer.stop()
