"""The service in containers, as docs/operating/deployment.md starts it: `make containers`.

It takes root, and Docker with Compose 2.
"""

import os
import re
import secrets
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

from bulksms_client import Client

from tests.containers import page
from tests.containers.engine import Engine
from tests.containers.traffic import BULK, Bulk, Senders, at_carrier, statuses
from tests.harness.house import wait_until

COPIED = (
    "Dockerfile",
    "docker-compose.yml",
    ".dockerignore",
    ".env.example",
    "deploy",
    "mkdocs.yml",
    "mkdocs_hooks.py",
)
COPIED += (
    "docs",
    "LICENSE",
    "NOTICE",
    "pyproject.toml",
    "README.md",
    "requirements-server.lock",
    "requirements-docs.lock",
)
COPIED += ("api", "bulksms", "clients/python", "console", "shared", "worker")
SMSC = "smsc.yml"
OWNER = 10001
"""The user of the image."""
FIRST_PHONE = 254_711_000_000
BULKS, SINGLES, AFTERWARDS = 8, 2_000, 1
SENDERS = 4
WINDOW = 100
"""Of the carrier: as many messages as a killed worker may leave in doubt."""
ENDED = {"delivered", "in_doubt"}


class Proof:
    """The steps, in their order."""

    def __init__(self, work: Path) -> None:
        self.project = work / "bulksms-proof"
        self.journal = self.project / "journal" / "submits.tsv"
        self._copy()
        self.engine = Engine(self.project, COMPOSE_FILE=f"docker-compose.yml:{SMSC}")
        self.accepted: set[str] = set()
        self.began = time.monotonic()

    def _copy(self) -> None:
        for name in COPIED:
            target = self.project / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if Path(name).is_dir():
                shutil.copytree(name, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            else:
                shutil.copy2(name, target)
        shutil.copy2(Path(__file__).with_name(SMSC), self.project)
        self.journal.parent.mkdir()
        os.chown(self.journal.parent, OWNER, OWNER)

    def say(self, what: str) -> None:
        """Report a step."""
        print(f"{time.monotonic() - self.began:6.0f} s  {what}", flush=True)

    def set(self, **values: str) -> None:
        """Give settings values in `.env`; an empty one removes the setting."""
        path = self.project / ".env"
        text = path.read_text()
        for name, value in values.items():
            text = re.sub(rf"^{name}=.*\n", "", text, flags=re.M)
            text += f"{name}={value}\n" if value else ""
        path.write_text(text)

    def start(self) -> dict[str, str]:
        """The page's first start, with its first account. Returns the key and its secret."""
        make, start, account = page.first_start()
        self.engine.shell(make)
        names = ("SECRET_KEY", "CONSOLE_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "MAIN_PASSWORD")
        self.set(**{name: secrets.token_hex(32) for name in names})
        self.set(MAIN_PASSWORD=secrets.token_hex(4))
        printed = ""
        for command in (*start, *account):
            printed = self.engine.shell(command, 900)
            self.say(command)
        return dict(re.findall(r"^ *(api[ _]key|api[ _]secret) +(\S+)", printed, re.M))

    def use_carrier_and_tls(self) -> None:
        """Replace the simulator by the SMSC, and give the front a certificate."""
        config = self.project / "deploy" / "config"
        example = (config / "carriers.example.toml").read_text()
        carriers = example.replace("smsc.carrier.example", "smsc").replace("your-system-id", "us")
        (config / "carriers.toml").write_text(carriers.replace("rate = 100", "rate = 300"))
        names = "-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
        self.engine.shell(
            f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 {names}"
            " -keyout deploy/config/privkey.pem -out deploy/config/fullchain.pem"
        )
        for name in ("carriers.toml", "privkey.pem", "fullchain.pem"):
            os.chown(config / name, OWNER, OWNER)
            (config / name).chmod(0o400)
        check = page.command("docker compose run --rm --no-deps api bulksms carrier check")
        self.engine.shell(check)
        self.say(check)
        self.set(CARRIER="", CARRIERS_FILE="/etc/bulksms/carriers.toml", **dict(re.findall("(.*)=(.*)", page.tls())))
        start = "docker compose up --detach --wait"
        self.engine.shell(start)
        self.say(start)
        os.environ["SSL_CERT_FILE"] = str(config / "fullchain.pem")

    def send(self, client: Client) -> None:
        """10,000 messages, while a worker is killed and the containers of the API are replaced."""
        self.engine.shell("docker compose exec api bulksms account topup acme 100000 --reason proof")
        self.accepted |= Bulk(client, FIRST_PHONE).send(BULKS)
        wait_until(lambda: len(at_carrier(self.journal)) > BULK, 120, "the first messages at the SMSC")
        with Senders(client, SENDERS, FIRST_PHONE + 100_000_000) as senders:
            self.kill_worker()
            wait_until(lambda: len(senders.accepted) > SINGLES / 10, 60, "the first single sends")
            self.replace(senders)
            wait_until(lambda: len(senders.accepted) >= SINGLES, 300, "all single sends")
        assert senders.failures == [], senders.failures[:5]
        self.accepted |= senders.accepted
        self.say(f"{len(senders.accepted):,} single sends accepted meanwhile, and none refused")

    def kill_worker(self) -> None:
        """SIGKILL to the worker's container, which Docker then starts again."""
        (worker,) = self.engine.containers("worker")
        os.kill(worker["State"]["Pid"], signal.SIGKILL)
        again = lambda: [each["RestartCount"] for each in self.engine.containers("worker")] == [1]  # noqa: E731
        wait_until(again, 60, "another worker")
        self.say(
            f"the worker was killed when the SMSC had {len(at_carrier(self.journal)):,} messages, and is there again"
        )

    def replace(self, senders: Senders) -> None:
        """Every container of the API by another."""
        command = page.command("sh deploy/replace-api.sh")
        before, sent = {each["Id"] for each in self.engine.containers("api")}, len(senders.accepted)
        self.engine.shell(command, 300)
        after = {each["Id"] for each in self.engine.containers("api")}
        assert len(after) == len(before) and not after & before
        self.say(f"{command}, while {len(senders.accepted) - sent:,} sends were accepted")

    def account_for_all(self, client: Client, in_doubt: int) -> Counter[str]:
        """Every accepted message has ended, and the SMSC has each at most once. Returns how many ended how."""
        wait_until(lambda: {status for _, status in statuses(client)} <= ENDED, 300, "the end of all messages")
        found = dict(statuses(client))
        assert set(found) == self.accepted, f"{len(found)} messages are known of {len(self.accepted)} accepted"
        taken = at_carrier(self.journal)
        delivered = {phone for phone, status in found.items() if status == "delivered"}
        assert set(taken.values()) == {1}, [phone for phone, times in taken.items() if times > 1][:5]
        assert delivered <= set(taken) <= self.accepted
        counts = Counter(found.values())
        assert counts["in_doubt"] <= in_doubt, counts
        self.say(f"{len(found):,} accepted: {dict(counts)}; the SMSC has {len(taken):,}, none twice")
        return counts

    def audit(self) -> None:
        """All of the ledger is right."""
        self.say(self.engine.shell("docker compose exec api bulksms audit --full 2>&1").strip().splitlines()[-1])

    def restart(self) -> None:
        """Down, and up again."""
        for command in ("docker compose down", "docker compose up --detach --wait"):
            self.engine.shell(command)
            self.say(command)


def run(proof: Proof) -> None:
    """Run all steps."""
    key = proof.start()
    proof.use_carrier_and_tls()
    with Client("https://127.0.0.1", *key.values()) as client:
        proof.send(client)
        counts = proof.account_for_all(client, WINDOW)
        proof.audit()
        proof.restart()
        proof.accepted |= Bulk(client, FIRST_PHONE + 200_000_000).send(AFTERWARDS)
        proof.account_for_all(client, counts["in_doubt"])
        proof.audit()


def main() -> None:
    """Run them, and leave nothing behind."""
    with tempfile.TemporaryDirectory(prefix="containers-") as folder:
        Path(folder).chmod(0o755)
        proof = Proof(Path(folder))
        try:
            run(proof)
        finally:
            proof.engine.remove()


if __name__ == "__main__":
    main()
