"""CARRIERS_FILE: what it makes, and the error of one that cannot be used."""

from pathlib import Path

import pytest

from worker.carrier_config.file import Carriers, CarriersError, read_carriers

GOOD = """
[carrier.main]
kind = "smpp"
host = "127.0.0.1"
system_id = "acme"
password = "$PASSWORD"
window = 250
rate = 100
"""
TWO = (
    GOOD
    + """prices = { "254" = 0.8, default = 2 }

[carrier.spare]
kind = "smpp"
host = "127.0.0.2"
system_id = "acme"
password = "other"
prices = { default = 1 }

[[routes]]
name = "kenya"
prefixes = ["254"]
categories = ["marketing"]
carriers = ["spare", "main"]
choose = "cheapest"

[[routes]]
carriers = ["spare"]
"""
)


LIMITS = (
    GOOD
    + """
[[limits]]
sender = "ACME"
rate = 10

[[limits]]
prefix = "2547"
rate = 2.5
"""
)


def read(tmp_path: Path, text: str) -> Carriers:
    file = tmp_path / "carriers.toml"
    file.write_text(text)
    return read_carriers(file, 15.0, None, {"PASSWORD": "secret"})


def test_it_works(tmp_path: Path) -> None:
    declared = read(tmp_path, GOOD)
    (carrier,) = declared.carriers
    assert (carrier.name, carrier.window, carrier.rate) == ("main", 250, 100)
    assert declared.routes is None


def test_several_carriers_and_routes(tmp_path: Path) -> None:
    declared = read(tmp_path, TWO)
    assert [carrier.name for carrier in declared.carriers] == ["main", "spare"]
    assert declared.routes is not None
    choose = declared.routes.chooser("ACME", 2, 0, {"main", "spare"})
    assert choose("254711000000").explanation == "kenya: cheapest"
    assert choose("254711000000").carrier == "main"
    assert choose("255711000000").carrier == "spare"


def test_limits_stand_beside_one_carrier(tmp_path: Path) -> None:
    routes = read(tmp_path, LIMITS).routes
    assert routes is not None
    assert [(limit.name, limit.rate) for limit in routes.limits] == [("prefix 2547", 2.5), ("sender ACME", 10)]
    assert routes.chooser("ACME", 0, 0, {"main"})("254711000000").queue == "main/prefix 2547/sender ACME"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[carrier.main", "is not TOML"),
        ("", "must have a table [carrier.NAME]"),
        (GOOD + "[other]\n", "unknown table other"),
        (GOOD.replace('"smpp"', '"smoke"'), "[carrier.main]: it needs a kind, one of: smpp"),
        (GOOD.replace("[carrier.main]", "[carrier.Main]"), "[carrier.Main]: start the name with a"),
        (GOOD.replace("[carrier.main]", "[carrier.simulator]"), "simulator is reserved"),
        (
            GOOD.replace("window = 250", "window = 0"),
            "[carrier.main]: window must be a whole number from 1 to 1000",
        ),
        (GOOD.replace("window", "windows"), "[carrier.main]: there is no setting windows"),
        (GOOD + "response_timeout = 13.0\n", "[carrier.main]: response_timeout must be at most 12 seconds"),
        (
            GOOD + "authentication_share = 20\n",
            "[carrier.main]: authentication_share must be a number from 0 to 1",
        ),
        (GOOD.replace("$PASSWORD", "$NOTHING"), "[carrier.main]: password: the environment has no NOTHING"),
        (GOOD.replace('host = "127.0.0.1"\n', ""), "[carrier.main]: host is missing"),
        (TWO.replace('host = "127.0.0.2"', "hots = 1"), "[carrier.spare]: there is no setting hots"),
        (
            TWO.replace("default = 2", "default = -2"),
            "[carrier.main]: prices: default must be a number of at least 0",
        ),
        (TWO.replace('"254" =', '"+254" ='), "[carrier.main]: prices: '+254' is not a prefix"),
        (TWO.replace('["254"]', '["+254"]'), "prefixes: '+254': write digits"),
        (TWO.replace('["254"]', '"254"'), "prefixes: write a list of strings"),
        (TWO.replace('["marketing"]', '["fun"]'), "categories: there is no 'fun', only authentication"),
        (TWO.replace('["spare"]', '["spar"]'), "[[routes]] 2: carriers: there is no 'spar'; did you mean spare?"),
        (TWO.replace('["spare"]', '["spare", "spare"]'), "carriers: one of them is listed twice"),
        (TWO.replace('carriers = ["spare"]', ""), "carriers: name at least one of main, spare"),
        (TWO.replace('"cheapest"', '"best"'), "choose must be one of order, cheapest"),
        (TWO.replace("prices = { default = 1 }", ""), "choose: [carrier.spare] has no prices"),
        (TWO.replace("prefixes", "prefixs"), "there is no setting prefixs; did you mean prefixes?"),
        (TWO + 'prefixes = ["1"]\n', "the last one must take every message"),
        (TWO + '[[routes]]\ncarriers = ["main"]\n', "[[routes]] 2: it takes every message, so no other"),
        (LIMITS.replace("[[limits]]", "[limits]", 1).partition("[[limits]]")[0], "limits are tables: write [[limits]]"),
        (LIMITS.replace("sender", "senders"), "there is no setting senders; did you mean sender?"),
        (LIMITS.replace('sender = "ACME"', ""), "a limit needs a sender, a prefix, or both"),
        (LIMITS.replace('"ACME"', '"MUCH TOO LONG"'), "sender: 'MUCH TOO LONG' is not a valid sender ID"),
        (LIMITS.replace('"2547"', "2547"), "prefix: 2547: write digits without a plus sign, in quotes"),
        (LIMITS.replace("2.5", "0"), "rate must be above 0 and at most 100,000 segments per second, not 0"),
        (LIMITS.replace("rate = 2.5", ""), "rate is missing: write segments per second"),
        (LIMITS.replace('prefix = "2547"', 'sender = "ACME"'), "there already is a limit of sender ACME"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(CarriersError) as caught:
        read(tmp_path, text)
    assert problem in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CarriersError, match="cannot be read"):
        read_carriers(tmp_path / "carriers.toml", 15.0)
