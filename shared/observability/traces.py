"""Traces for OpenTelemetry. Off, unless OTEL_EXPORTER_OTLP_ENDPOINT is set: `tracer` is then None, which is all that
callers check, and no package of OpenTelemetry is imported.
"""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from shared.environment import SettingsError

if TYPE_CHECKING:
    from shared.observability.otlp_tracer import Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
PROTOCOL = "http/protobuf"
RATIO_SAMPLERS = ("traceidratio", "parentbased_traceidratio")
SAMPLERS = ("always_on", "always_off", "parentbased_always_on", "parentbased_always_off", *RATIO_SAMPLERS)
PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

tracer: "Tracer | None" = None
"""Begins the spans of this process; None while traces are off."""


def start_traces(process: str) -> None:
    """Begin to trace, if the environment says so, as the service `bulksms-PROCESS`.

    Raises SettingsError if the settings cannot be used or the packages are missing.
    """
    global tracer
    if not are_traces_on(os.environ):
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


def are_traces_on(env: Mapping[str, str]) -> bool:
    """Whether the environment turns traces on. Raises SettingsError as `start_traces` does."""
    endpoints = {name: env[name] for name in ENDPOINTS if env.get(name)}
    disabled = env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if not endpoints or disabled or env.get("OTEL_TRACES_EXPORTER", "") == "none":
        return False
    for name, url in endpoints.items():
        if not url.startswith(("http://", "https://")):
            raise SettingsError(f"{name} is {url!r}; it takes an address such as http://127.0.0.1:4318.")
    for name in PROTOCOLS:
        if env.get(name, PROTOCOL) not in ("", PROTOCOL):
            raise SettingsError(f"{name} is {env[name]!r}; traces are only exported by `{PROTOCOL}`. Remove it.")
    _check_sampler(env.get("OTEL_TRACES_SAMPLER", ""), env.get("OTEL_TRACES_SAMPLER_ARG", ""))
    if not all(map(_is_installed, PACKAGES)):
        raise SettingsError(
            f"{next(iter(endpoints))} is set, but the packages for traces are not installed. Install them with"
            " `pip install '/path/to/bulksms[traces]'` (docs/operating/traces.md), or remove the variable."
        )
    return True


def _check_sampler(sampler: str, argument: str) -> None:
    """Raise SettingsError for values with which OpenTelemetry would silently record everything."""
    if sampler and sampler not in SAMPLERS:
        raise SettingsError(f"OTEL_TRACES_SAMPLER is {sampler!r}; it takes one of: {', '.join(SAMPLERS)}.")
    if sampler in RATIO_SAMPLERS and argument:
        try:
            ratio = float(argument)
        except ValueError:
            ratio = -1.0
        if not 0 <= ratio <= 1:
            raise SettingsError(
                f"OTEL_TRACES_SAMPLER_ARG is {argument!r}, and must be between 0 and 1."
                " Example: OTEL_TRACES_SAMPLER_ARG=0.01"
            )


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
