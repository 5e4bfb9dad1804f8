"""CARRIERS_FILE: what it makes, and what is said of one that cannot be used."""

from pathlib import Path

import pytest

from worker.carriers.file import CarriersError, read_carrier

GOOD = """
[carrier.main]
driver = "smpp"
host = "127.0.0.1"
system_id = "acme"
password = "$PASSWORD"
window = 250
rate = 100
"""


def test_it_works(tmp_path: Path) -> None:
    file = tmp_path / "carriers.toml"
    file.write_text(GOOD)
    carrier = read_carrier(file, 15.0, {"PASSWORD": "secret"})
    assert (carrier.name, carrier.window, carrier.rate) == ("main", 250, 100)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[carrier.main", "is not TOML"),
        ("", "must have one table [carrier.NAME]"),
        (GOOD + "[other]\n", "and nothing else"),
        (GOOD.replace('"smpp"', '"smoke"'), "needs a driver, one of: smpp"),
        (GOOD.replace("window = 250", "window = 0"), "line 7: [carrier.main]: window: a whole number from 1 to 1000"),
        (GOOD.replace("window", "windows"), "line 7: [carrier.main]: there is no setting windows"),
        (GOOD + "answer_time = 13.0\n", "line 9: [carrier.main]: answer_time: at most 12 seconds"),
        (GOOD.replace("$PASSWORD", "$NOTHING"), "line 6: [carrier.main]: password: the environment has no NOTHING"),
        (GOOD.replace('host = "127.0.0.1"\n', ""), "[carrier.main]: host is missing"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "carriers.toml"
    file.write_text(text)
    with pytest.raises(CarriersError) as caught:
        read_carrier(file, 15.0, {"PASSWORD": "secret"})
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CarriersError, match="cannot be read"):
        read_carrier(tmp_path / "carriers.toml", 15.0)
