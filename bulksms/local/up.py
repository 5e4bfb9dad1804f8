"""`bulksms up`: the whole service on this machine, from an empty folder to a first message."""

import os
from pathlib import Path

from bulksms.local import services
from bulksms.local.banner import banner
from bulksms.local.demo import ensure_demo, kept_smpp_port
from bulksms.local.errors import LocalError
from bulksms.local.exports import settings_in_use, write_exports
from bulksms.local.files import Lock, metrics_directory, remove_metrics, secret, write_private
from bulksms.local.ports import LOOPBACK, free_port, is_free
from bulksms.local.postgres import Postgres
from bulksms.local.redis import RedisServer
from bulksms.local.supervisor import Stopped, Supervisor, to_stderr
from shared.addresses import MAX_PORT

SMPP_CARRIER = """[carrier.smsc]
kind = "smpp"
host = "{host}"
port = {port}
system_id = "demo"
password = "demo"
window = 400
"""


def up(home: Path, port: int, workers: int, carrier: str = "simulator", console_port: int | None = None) -> int:
    """Run Postgres, Redis, the API, the console and `workers` workers until Ctrl-C. Data is kept in `home`/var.

    The console's port is the one after the API's unless `console_port` is given.

    With `carrier` "smpp", messages go to a simulated SMSC; otherwise to the carriers in CARRIERS_FILE, or if it is not
    set, to the simulated carrier in the workers.

    Returns an exit code: 0 after Ctrl-C or SIGTERM, 1 if a process could not be started (reported on standard error).
    """
    home = home.absolute()
    var = home / "var"
    lock = Lock(var / "up.lock")
    console_port = console_port or port + 1
    try:
        _require_two(port, console_port)
        var.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire(f"The service is already running in {home} (process {{pid}}). Stop that one first: kill {{pid}}")
        _require_free(port)
        _require_free(console_port, "CONSOLE_PORT")
        _run(home, port, workers, carrier, console_port)
    except LocalError as error:
        to_stderr(f"\n{error}")
        return 1
    except OSError as error:
        to_stderr(f"\n{error.filename or var} cannot be used: {error.strerror or error}.")
        return 1
    finally:
        lock.release()
    to_stderr(f"Everything has stopped. The data is kept in {var}.")
    return 0


def _run(home: Path, port: int, workers: int, carrier: str, console_port: int) -> None:
    try:
        with Supervisor() as supervisor:
            try:
                _start_all(supervisor, home, port, workers, carrier, console_port)
                supervisor.run()
            except Stopped:
                pass
            to_stderr("\nStopping ...")
    finally:
        (home / "var" / "env").unlink(missing_ok=True)
        remove_metrics(metrics_directory(home / "var"))


def _start_all(supervisor: Supervisor, home: Path, port: int, workers: int, carrier: str, console_port: int) -> None:
    var, logs = home / "var", home / "var" / "log"
    to_stderr("Starting the service (Ctrl-C stops it) ...")
    postgres = Postgres(var / "postgres", log_file=logs / "postgres.log")
    redis = RedisServer(var / "redis", log_file=logs / "redis.log")
    supervisor.start(postgres)
    supervisor.start(redis)
    values = _values(postgres, redis, _secret_key(var / "secret_key"), port) | {"GUARD_FILE": str(var / "mark.json")}
    values |= {"CONSOLE_URL": f"http://{LOOPBACK}:{console_port}", "TRUSTED_PROXIES": f"{LOOPBACK}/32"}
    values |= {"CONSOLE_SECRET_KEY": secret(var / "console_secret_key")}
    smsc_port = free_port() if carrier == "smpp" else 0
    own_file = "" if smsc_port else os.environ.get("CARRIERS_FILE", "")
    if smsc_port:
        write_private(var / "carriers.toml", SMPP_CARRIER.format(host=LOOPBACK, port=smsc_port))
    carriers_file = str(var / "carriers.toml") if smsc_port else own_file and str(Path(own_file).absolute())
    metrics = metrics_directory(var)
    remove_metrics(metrics)
    values |= {"METRICS_TOKEN": secret(var / "metrics_token"), "PROMETHEUS_MULTIPROC_DIR": str(metrics)}
    values |= {"CARRIERS_FILE": carriers_file, "CARRIER": "" if carriers_file else "simulator"}
    write_exports(var / "env", settings_in_use(values))
    env = services.environment(values)
    supervisor.finish(services.migrate(env, logs, home))
    if smsc_port:
        supervisor.start(services.smsc(smsc_port, env, logs, home))
    supervisor.start(services.api(port, env, logs, home))
    for number in range(1, workers + 1):
        supervisor.start(services.worker(number, env, logs, home))
    supervisor.start(services.webhooks(env, logs, home))
    smpp_port = kept_smpp_port()
    supervisor.start(services.smpp(smpp_port, env, logs, home))
    supervisor.start(services.console(console_port, port, env, logs, home))
    os.environ.update(values)
    demo = ensure_demo(f"http://{LOOPBACK}:{port}", smpp_port)
    to_stderr(banner(demo, var, "" if smsc_port else carriers_file, values["CONSOLE_URL"]))


def _secret_key(path: Path) -> str:
    """The key in the file; says so if the environment has another one."""
    key = secret(path)
    if os.environ.get("SECRET_KEY", key) != key:
        to_stderr(
            f"SECRET_KEY from the environment is ignored; the key is in {path}. docs/operating/rotate-secrets.md says"
            " how to change it."
        )
    return key


def _values(postgres: Postgres, redis: RedisServer, secret_key: str, port: int) -> dict[str, str]:
    return {
        "DATABASE_URL": postgres.libpq_url,
        "REDIS_URL": redis.url,
        "BROKER_URL": redis.url,
        "SECRET_KEY": secret_key,
        "PORT": str(port),
        "WEBHOOK_LOOPBACK": "1",
    }


def _require_two(port: int, console_port: int) -> None:
    if console_port > MAX_PORT:
        raise LocalError(f"No port follows {port}, so give the console one: make run CONSOLE_PORT={_alternative(port)}")
    if console_port == port:
        raise LocalError(
            f"The API has port {port}. Give the console another: make run CONSOLE_PORT={_alternative(port)}"
        )


def _require_free(port: int, name: str = "PORT") -> None:
    # API processes share their port (SO_REUSEPORT): a second service on it would not fail to start, but take some of
    # the first one's requests.
    if not is_free(port):
        raise LocalError(f"Port {port} is in use on {LOOPBACK}. Use another one: make run {name}={_alternative(port)}")


def _alternative(port: int) -> int:
    return next((other for other in range(8080, 8180) if other != port and is_free(other)), 8080)
