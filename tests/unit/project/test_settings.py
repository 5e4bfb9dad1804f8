"""Settings of the environment, and of files that it names."""

from pathlib import Path

import pytest

from shared.environment import log_level
from shared.redis_client import celery_broker, redis_client, sentinel_address
from shared.settings import SettingsError, from_environment, service_settings
from shared.unit import CREDITS, Unit

NEEDED = {"DATABASE_URL": "postgresql://x", "REDIS_URL": "redis://x", "SECRET_KEY": "x" * 32}


def test_it_works() -> None:
    settings = service_settings({**NEEDED, "CARRIER": "simulator"})
    assert (settings.simulated, settings.carriers_file) == (True, "")
    settings = service_settings({**NEEDED, "CARRIERS_FILE": "carriers.toml"})
    assert (settings.simulated, settings.carriers_file) == (False, "carriers.toml")


def test_accepting_and_sending_need_a_carrier_by_name() -> None:
    with pytest.raises(SettingsError, match=r"No carrier is set\. .*CARRIERS_FILE.*CARRIER=simulator"):
        service_settings(NEEDED)
    assert not from_environment(NEEDED).simulated, "others do not: they only read"


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL", "SECRET_KEY", "METRICS_TOKEN", "LEASE_SECONDS"])
def test_every_setting_may_stand_in_a_file(name: str, tmp_path: Path) -> None:
    values = NEEDED | {"METRICS_TOKEN": "token", "LEASE_SECONDS": "20"}
    (tmp_path / "value").write_text(values[name] + "\n")
    by_file = {**values, name: "", f"{name}_FILE": str(tmp_path / "value")}
    assert from_environment(by_file) == from_environment(values)


def test_a_variable_takes_precedence_over_its_file(tmp_path: Path) -> None:
    assert from_environment({**NEEDED, "SECRET_KEY_FILE": str(tmp_path / "none")}).secret_key == "x" * 32


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(SettingsError, match=f"SECRET_KEY_FILE={path} cannot be read: No such file"):
        from_environment({**NEEDED, "SECRET_KEY": "", "SECRET_KEY_FILE": str(path)})


def test_a_unit_has_a_currency_and_decimals() -> None:
    assert from_environment({**NEEDED, "UNIT": "EUR:4"}).unit == Unit("EUR", 4)
    assert from_environment({**NEEDED, "UNIT": "sms"}).unit == from_environment(NEEDED).unit == CREDITS
    for wrong in ("EUR", "eur:4", "EUR:10", "credits"):
        with pytest.raises(SettingsError, match=f"UNIT is '{wrong}'.*EUR:4"):
            from_environment({**NEEDED, "UNIT": wrong})


def test_a_missing_setting_is_named_with_the_place_to_set_it() -> None:
    with pytest.raises(SettingsError, match=r"SECRET_KEY is not set\. .*\.env"):
        from_environment({**NEEDED, "SECRET_KEY": ""})


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("BROKER_URL", "memory://"),
        ("REDIS_URL", "amqp://127.0.0.1//"),
        ("REDIS_URL", "127.0.0.1:6379"),
    ],
)
def test_addresses_of_unsupported_services_are_refused(name: str, url: str) -> None:
    with pytest.raises(
        SettingsError, match=f"^{name} (begins with [a-z]+://|is not a URL); it takes redis://, rediss://"
    ):
        from_environment({**NEEDED, name: url})


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("sentinel://127.0.0.1:26379/0", "it names no `master_name`"),
        ("sentinel:///0?master_name=main", "it names no Sentinel"),
        ("sentinel://127.0.0.1/main?master_name=main", "its path is not the number of a database"),
        ("sentinel://127.0.0.1:x/0?master_name=main", "the host or port of a Sentinel is invalid"),
        ("sentinel://127.0.0.1/0?master_name=main&quorum=2", "it has an option other than `master_name` and"),
    ],
)
def test_an_address_of_sentinel_is_complete(url: str, wrong: str) -> None:
    for name in ("REDIS_URL", "BROKER_URL"):
        with pytest.raises(SettingsError, match=f"{name} is not an address of Sentinel: {wrong}.*Example: sentinel://"):
            from_environment({**NEEDED, name: url})


def test_one_address_of_sentinel_is_for_redis_and_for_celery() -> None:
    url = "sentinel://app:p%40ss@h1,h2:26380,[::1]/3?master_name=main&sentinel_password=s"
    assert from_environment({**NEEDED, "REDIS_URL": url}).broker_url == url
    address = sentinel_address(url)
    assert address.sentinels == [("h1", 26379), ("h2", 26380), ("::1", 26379)]
    assert (address.username, address.password, address.database) == ("app", "p@ss", 3)
    broker, options = celery_broker(url)
    assert broker.split(";")[1] == "sentinel://app:p%40ss@h2:26380/3"
    assert options["master_name"] == "main" and options["sentinel_kwargs"]["password"] == "s"
    assert celery_broker("redis://h:1/0") == ("redis://h:1/0", {})


@pytest.mark.parametrize(
    "url",
    [
        "amqp://u:p@127.0.0.1//",
        "amqps://127.0.0.1//",
        "amqp://u:p@h1:5672/v;amqp://u:p@h2:5672/v",
        "amqp://",
        "rediss://127.0.0.1:6379/0",
        "rediss://:p@h/0?ssl_cert_reqs=none&ssl_ca_certs=/ca.pem",
        "redis://u:p@[::1]:6379/0?socket_keepalive=yes",
        "redis:///0",
        "rediss://:p@h/0?ssl_cert_reqs=CERT_REQUIRED",
        "rediss://:p@h/0?ssl_ca_certs=/ca.pem&ssl_cert_reqs=CERT_OPTIONAL",
        "rediss://:p@h/0?ssl_cert_reqs=CERT_NONE&ssl_ca_certs=/ca.pem",
    ],
)
def test_other_brokers_are_taken(url: str) -> None:
    assert from_environment({**NEEDED, "BROKER_URL": url}).broker_url == url


@pytest.mark.parametrize("how", ["required", "optional", "none"])
def test_certificates_are_checked_as_celery_spells_it_and_as_redis_does(how: str) -> None:
    for spelled in (how, f"CERT_{how.upper()}"):
        client = redis_client(f"rediss://h/0?ssl_cert_reqs={spelled}&ssl_ca_certs=/ca.pem", timeout=1)
        options = client.connection_pool.connection_kwargs
        assert (options["ssl_cert_reqs"], options["ssl_ca_certs"]) == (how, "/ca.pem")


@pytest.mark.parametrize(
    ("kind", "broker", "wrong"),
    [("mirrored", "amqp://h//", "it takes `classic` or `quorum`"), ("quorum", "", "only for RabbitMQ")],
)
def test_an_invalid_queue_type_is_refused(kind: str, broker: str, wrong: str) -> None:
    with pytest.raises(SettingsError, match=f"BROKER_QUEUE_TYPE.*{wrong}"):
        from_environment({**NEEDED, "BROKER_QUEUE_TYPE": kind, "BROKER_URL": broker})


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        ("WORKER_CONCURRENCY", "0", "at least 1"),
        ("DATABASE_POOL", "0", "at least 1"),
        ("LEASE_SECONDS", "101", "between 1 and 100"),
        ("SIMULATOR_RATE", "-1", "at least 0"),
        ("RETENTION_DAYS", "3651", "between 0 and 3650"),
        ("PRICE_NOTICE_DAYS", "366", "between 0 and 365"),
        ("DOUBT_GRACE_SECONDS", "31536001", "between 0 and 31536000"),
        ("SIMULATOR_RECEIPT_DELAY", "86401", "between 0 and 86400"),
        ("SIMULATOR_ROUND_TRIP", "1e300", "between 0 and 86400"),
    ],
)
def test_a_number_out_of_bounds_is_refused(name: str, value: str, limit: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is {value}, and must be {limit}. Example: {name}="):
        from_environment({**NEEDED, name: value})


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e400", "soon"])
@pytest.mark.parametrize("name", ["LEASE_SECONDS", "DOUBT_GRACE_SECONDS", "SIMULATOR_RATE", "REQUEST_LOG_SAMPLE_RATE"])
def test_what_is_no_finite_number_is_refused(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is '{value}', which is not a number"):
        from_environment({**NEEDED, name: value})


@pytest.mark.parametrize(
    ("name", "setting"),
    [("CELERY_EAGER", "eager"), ("WEBHOOK_LOOPBACK", "webhook_loopback"), ("CELERY_REMOTE_CONTROL", "remote_control")],
)
def test_a_switch_is_on_or_off_or_refused(name: str, setting: str) -> None:
    for value, on in {"1": True, " 1 ": True, "0": False, "": False, " ": False}.items():
        assert getattr(from_environment({**NEEDED, name: value}), setting) is on, value
    for value in ("true", "yes", "on", "2", "-1"):
        with pytest.raises(SettingsError, match=f"{name} is '{value}'; it takes `1` for on, and `0` or nothing for"):
            from_environment({**NEEDED, name: value})


def test_the_log_level_is_written_in_any_case() -> None:
    levels = {"": "INFO", " ": "INFO", "debug": "DEBUG", "Warning ": "WARNING", "ERROR": "ERROR"}
    assert {text: log_level({"LOG_LEVEL": text}) for text in levels} == levels
    with pytest.raises(SettingsError, match=r"LOG_LEVEL is 'verbose'; it takes DEBUG, INFO"):
        from_environment({**NEEDED, "LOG_LEVEL": "verbose"})


PASSWORD = "Xanthippe"
DATABASES = [
    "h:abc/x",
    "h:99999/x",
    "h:-1/x",
    "[::1/x",
    "h1:1,h2:2/x",
    "/x?host=h1,h2&port=1,none",
    "/x?host=h1,h2&port=1,65536",
    "h/x?sslmod=require",
]


@pytest.mark.parametrize("name", ["DATABASE_URL", "REPLICA_URL"])
@pytest.mark.parametrize("rest", DATABASES)
def test_an_address_that_no_database_can_have_is_refused(name: str, rest: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is not an address of Postgres: ") as refused:
        from_environment({**NEEDED, name: f"postgresql://bulksms:{PASSWORD}@{rest}"})
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("DATABASE_URL", f"postgresql://bulksms:x@y?{PASSWORD}=@h/x"),
        ("DATABASE_URL", f"postgresql://h/x?user=u&password=x&{PASSWORD}=y"),
        ("DATABASE_URL", f"postgresql://h/x?sslkey=/key.pem&sslpassword=x&{PASSWORD}=y"),
        ("REDIS_URL", f"redis://h/0?password=x&{PASSWORD}=y"),
        ("REDIS_URL", f"sentinel://h/0?master_name=main&sentinel_password=x&{PASSWORD}=y"),
        ("BROKER_URL", f"sentinel://:x?{PASSWORD}=y@h/0?master_name=main"),
    ],
)
def test_a_part_of_a_password_that_looks_like_an_option_is_not_repeated(name: str, url: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is not an address of ") as refused:
        from_environment({**NEEDED, name: url})
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgresql:///x?host=/var/run/postgresql",
        "postgresql://%2Fvar%2Frun/x",
        "postgresql://u:p@[::1]:5432/x",
        "postgresql://u:p/w@h1,h2/x",
        "postgresql://u:p@/x?host=h1,h2&port=5432,5433&target_session_attrs=read-write",
        "postgresql://u:p@/x?host=h1:5432&host=h2:5433",
        "postgresql://u:p@h/x?host=h1,h2&port=,5433",
        "postgres://u:p@h/x?sslmode=verify-full&sslrootcert=/ca.pem&options=-c%20jit%3Doff",
    ],
)
def test_other_addresses_of_databases_are_taken(url: str) -> None:
    assert from_environment({**NEEDED, "DATABASE_URL": url}).database_url.endswith(url.partition("://")[2])


@pytest.mark.parametrize("name", ["REDIS_URL", "BROKER_URL"])
@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{PASSWORD}@h:abc/0",
        f"redis://:{PASSWORD}@h:99999/0",
        f"rediss://:{PASSWORD}@[::1/0",
        f"redis://:{PASSWORD}/w@h/0",
        f"redis://:{PASSWORD}@h/0?sokcet_timeout=1",
        f"redis://:{PASSWORD}@h/0?retry=3",
        f"redis://:{PASSWORD}@h/0?protocol=x",
        f"rediss://:{PASSWORD}@h/0?ssl_cert_reqs=some",
        f"sentinel://:{PASSWORD}@h:abc/0?master_name=main",
        f"sentinel://:{PASSWORD}:w/x@h/0?master_name=main",
        f"sentinel://:{PASSWORD}\u2100@h/0?master_name=main",
    ],
)
def test_an_address_that_no_redis_can_have_is_refused(name: str, url: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is not an address of (Redis|Sentinel): ") as refused:
        from_environment({**NEEDED, name: url})
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("rest", ["h:abc//", "h:99999//", "[::1//", "h1:5672//;amqp://u:p@h2:abc//"])
def test_an_address_that_no_rabbitmq_can_have_is_refused(rest: str) -> None:
    with pytest.raises(SettingsError, match=r"^BROKER_URL is not an address of RabbitMQ: ") as refused:
        from_environment({**NEEDED, "BROKER_URL": f"amqp://u:{PASSWORD}@{rest}"})
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("url", ["localhost:8001", "http://", "http://h:abc", "http://h:99999", "https://[::1"])
def test_an_address_that_no_console_can_have_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match=r"^CONSOLE_URL is not an address: .*Example: CONSOLE_URL=http://"):
        from_environment({**NEEDED, "CONSOLE_URL": url})


def test_the_settings_of_a_replica_are_checked() -> None:
    settings = from_environment({**NEEDED, "REPLICA_URL": "postgres://standby/bulksms", "REPLICA_MAX_LAG": "60"})
    assert (settings.replica_url, settings.replica_max_lag) == ("postgresql+psycopg://standby/bulksms", 60)
    assert from_environment(NEEDED).replica_url == ""
    with pytest.raises(SettingsError, match="REPLICA_URL must begin with postgresql://"):
        from_environment({**NEEDED, "REPLICA_URL": "redis://standby"})
    with pytest.raises(SettingsError, match="REPLICA_MAX_LAG is 3601, and must be between 2 and 3600"):
        from_environment({**NEEDED, "REPLICA_MAX_LAG": "3601"})
