"""Whether the replica can answer reports."""

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from shared.db.connection import make_engine
from shared.db.replica import NoReplica, lag_of
from shared.health.finding import Finding, first_line
from shared.settings import Settings

PRIMARY_ANSWERS = "The primary answers reports until then."


def check_replica(settings: Settings, primary: Engine) -> Finding:
    """Ask the replica that REPLICA_URL names how far it is behind."""
    engine = make_engine(settings.replica_url, 1, "bulksms-doctor", standby=True)
    try:
        lag = lag_of(primary, engine)
    except (NoReplica, SQLAlchemyError) as error:
        detail = first_line(error)
        return Finding("replica", "notice", detail, f"Start the standby, or correct REPLICA_URL. {PRIMARY_ANSWERS}")
    finally:
        engine.dispose()
    detail = f"{lag:,.0f} s behind"
    if lag > settings.replica_max_lag:
        remedy = f"See pg_stat_replication on the primary, and the log of the standby. {PRIMARY_ANSWERS}"
        return Finding("replica", "notice", f"{detail}: more than REPLICA_MAX_LAG", remedy)
    return Finding("replica", "ok", detail)
