"""The certificate that a client of the SMPP server sees, before and after its files change."""

import os
import shutil
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from api.smpp.certificate import Certificate


def make(folder: Path, name: str) -> bytes:
    """A certificate, which is returned, and its key."""
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key"]
    subprocess.run(["openssl", "req", *options, "-out", f"{name}.pem"], cwd=folder, check=True, capture_output=True)
    return ssl.PEM_cert_to_DER_cert((folder / f"{name}.pem").read_text())


def seen(context: ssl.SSLContext) -> bytes | None:
    """The certificate that a new client gets."""
    of_client = ssl.create_default_context()
    of_client.check_hostname, of_client.verify_mode = False, ssl.CERT_NONE
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = of_client.wrap_bio(back, there), context.wrap_bio(there, back, server_side=True)
    for side in (client, server, client):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    return client.getpeercert(binary_form=True)


def test_a_renewed_certificate_is_used_as_soon_as_its_key_fits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old, new = make(tmp_path, "old"), make(tmp_path, "new")
    file, key = tmp_path / "used.pem", tmp_path / "used.key"
    shutil.copy(tmp_path / "old.pem", file)
    shutil.copy(tmp_path / "old.key", key)
    certificate = Certificate(str(file), str(key))
    assert seen(certificate.context) == old
    shutil.copy(tmp_path / "new.pem", file)
    os.utime(file, (1, 1))
    certificate.reload_if_changed()
    assert seen(certificate.context) == old
    assert "the former one stays in use" in caplog.text
    shutil.copy(tmp_path / "new.key", key)
    certificate.reload_if_changed()
    assert seen(certificate.context) == new
