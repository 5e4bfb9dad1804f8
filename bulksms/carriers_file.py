"""Finding of `bulksms doctor` about CARRIERS_FILE, which only the workers read."""

from pathlib import Path

from bulksms.environment import Installation, engine_of
from shared.health.finding import Finding
from shared.plurals import counted
from shared.settings import NO_CARRIER, SIMULATED
from worker.carrier_config.file import CarriersError, read_carriers


def check_carriers_file(target: Installation) -> Finding:
    """Check which carriers are configured and whether CARRIERS_FILE can be used."""
    settings = target.settings
    if settings.simulated:
        return Finding(
            "carriers", "notice", SIMULATED, "To send for real: set CARRIERS_FILE (docs/operating/carriers.md)."
        )
    if not settings.carriers_file:
        return Finding("carriers", "wrong", "none is set", NO_CARRIER)
    try:
        with engine_of(target) as engine:
            carriers = read_carriers(Path(settings.carriers_file), settings.lease, engine).carriers
    except CarriersError as error:
        return Finding("carriers", "wrong", "CARRIERS_FILE cannot be used", str(error))
    names = ", ".join(carrier.name for carrier in carriers)
    return Finding("carriers", "ok", f"{names} ({counted(len(carriers), 'carrier')} in {settings.carriers_file})")
