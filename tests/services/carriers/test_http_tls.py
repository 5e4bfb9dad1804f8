"""The http driver over TLS: the carrier's certificate is always checked."""

import shutil
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from tests.harness.http_carrier import http_peer, json_reply
from tests.services.carriers.http_pair import carrier, declared, one
from worker.carriers.base import ResponseKind, unsubmitted


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """good.pem for 127.0.0.1, and old.pem, which has expired; each with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates")
    folder = tmp_path_factory.mktemp("tls")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")

    def openssl(*options: str) -> None:
        subprocess.run(["openssl", *options], cwd=folder, check=True, capture_output=True)

    for name, days in (("good", "2"), ("old", "0")):
        openssl(
            "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=web", "-keyout", f"{name}.key", "-out", "a"
        )
        given = ["-in", "a", "-signkey", f"{name}.key", "-out", f"{name}.pem"]
        openssl("x509", "-req", "-days", days, "-extfile", "names", *given)
    time.sleep(1.1)  # of 0 days: it ends with the second in which it was made
    return folder


def context(folder: Path, name: str) -> ssl.SSLContext:
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    return made


@pytest.mark.parametrize(("name", "response"), [("good", ResponseKind.ACCEPTED), ("old", ResponseKind.THROTTLED)])
def test_tls(certificates: Path, name: str, response: ResponseKind) -> None:
    with http_peer(lambda request: json_reply({"id": "x"}), context(certificates, name)) as peer:
        config = declared(peer.url("/", "https"), tls_ca=str(certificates / f"{name}.pem"))
        with carrier(config) as made:
            assert one(made).response == response
            assert made.health.state == ("bound" if name == "good" else "suspended")
            assert len(peer.requests) == (name == "good")


def test_an_untrusted_certificate_is_refused(certificates: Path) -> None:
    with http_peer(lambda request: json_reply({"id": "x"}), context(certificates, "good")) as peer:
        with carrier(declared(peer.url("/", "https"))) as made:
            assert one(made) == unsubmitted("tls_failed")
        assert peer.requests == []
