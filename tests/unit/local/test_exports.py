"""What `bulksms up` writes for other terminals is what the service runs with."""

import os
from pathlib import Path

import pytest

from bulksms.environment import read_exports
from bulksms.local.exports import settings_in_use, write_exports
from bulksms.local.up import _secret_key
from shared.settings import SettingsError, from_environment
from worker.carrier_config.file import read_carriers

OWN = {"DATABASE_URL": "postgresql://x@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1", "SECRET_KEY": "x" * 32}
FORMER = "a former key which 'still' works and is long enough"
CARRIERS = """[carrier.main]
kind = "smpp"
host = "127.0.0.1"
port = 1
system_id = "acme"
password = "$MAIN_PASSWORD"
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        monkeypatch.delenv(name)


def exported(path: Path, values: dict[str, str]) -> dict[str, str]:
    write_exports(path / "env", settings_in_use(values))
    assert (path / "env").stat().st_mode & 0o777 == 0o600
    return read_exports((path / "env").read_text())


def test_it_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_KEY_FALLBACKS", FORMER)
    monkeypatch.setenv("LEASE_SECONDS", "20")
    monkeypatch.setenv("HOME", "/nobody")
    values = {**OWN, "GUARD_FILE": "/var/mark.json", "CARRIER": "simulator"}
    found = exported(tmp_path, values)
    assert found == {**values, "SECRET_KEY_FALLBACKS": FORMER, "LEASE_SECONDS": "20"}
    assert from_environment(found) == from_environment({**os.environ, **values})


def test_the_password_that_the_carriers_file_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "carriers.toml"
    file.write_text(CARRIERS)
    values = {**OWN, "CARRIERS_FILE": str(file)}
    with pytest.raises(SettingsError, match="the environment has no MAIN_PASSWORD"):
        settings_in_use(values)
    monkeypatch.setenv("MAIN_PASSWORD", "secret")
    found = exported(tmp_path, values)
    assert found["MAIN_PASSWORD"] == "secret"
    assert read_carriers(file, 15, environ=found).carriers


def test_the_services_own_values_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_KEY", "y" * 32)
    monkeypatch.setenv("SECRET_KEY_FILE", "/nowhere")
    assert exported(tmp_path, OWN) == OWN


def test_a_secret_key_of_the_environment_is_not_ignored_silently(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = _secret_key(tmp_path / "secret_key")
    monkeypatch.setenv("SECRET_KEY", key)
    assert _secret_key(tmp_path / "secret_key") == key
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("SECRET_KEY", "y" * 32)
    assert _secret_key(tmp_path / "secret_key") == key
    assert f"the key is in {tmp_path / 'secret_key'}" in capsys.readouterr().err
