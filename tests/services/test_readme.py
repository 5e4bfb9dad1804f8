"""What the README says can be pasted works when it is pasted."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.house import House, house, wait_until
from worker.carriers import simulator

README = Path("README.md").read_text()

pytestmark = pytest.mark.xdist_group("readme")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house"), workers=1) as made:
        yield made


def test_the_first_send(service: House, tmp_path: Path) -> None:
    service.new_account("demo", 10, sender="DEMO")
    demo = {"api_key": service.key.api_key, "api_secret": service.key.api_secret}
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "demo.json").write_text(json.dumps(demo))
    block = re.search(r"```sh\n(URL=.*?)```", README, re.S)
    assert block is not None
    script = block[1].replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
    ran = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert ran.returncode == 0, ran.stderr
    listed = json.loads(ran.stdout[ran.stdout.rindex('{"data"') :])
    assert [message["phone"] for message in listed["data"]] == ["254711000000"]
    wait_until(lambda: service.get("/messages")["data"][0]["status"] == "delivered", 10, "the receipt")
    assert service.get("/balance")["balance"] == 9


def test_the_table_of_outcomes_is_the_simulators() -> None:
    table = dict(re.findall(r"\| `(999\d\d)…` \| ([^|]+?) \|", README))
    assert set(table) == {f"999{outcome:02d}" for outcome in range(1, 11)}
    assert simulator.__doc__ is not None
    for phone, outcome in table.items():
        said = re.search(rf"{phone}  (.+?)(?:  |\n)", simulator.__doc__)
        assert said is not None
        assert outcome == said[1].strip()


def test_the_files_that_it_names_exist() -> None:
    for path in re.findall(r"`?((?:api|worker|shared|bulksms|tests|docs)/[\w/]+\.\w+)`?", README):
        assert Path(path).exists(), path
