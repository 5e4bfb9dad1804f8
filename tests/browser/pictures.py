"""Takes the pictures of docs/guides/console.md: `python -m tests.browser.pictures`, which is `make pictures`."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM
from tests.browser.pages import pages_of
from tests.harness.console import console_of, serving
from tests.harness.console_demo import furnish, go_on_sending, owner
from tests.harness.database import disposable_database
from tests.harness.servers import make_migrated_postgres

PICTURES = Path(__file__).parent.parent.parent / "docs" / "guides" / "pictures"
WIDE = {"width": 1280, "height": 900}


def main() -> None:
    """Furnish an account and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # Postgres may run as another user
        with make_migrated_postgres(Path(folder), durable=False) as postgres:
            postgres.start()
            with disposable_database(postgres) as engine, console_of(engine) as console:
                furnish(console)
                go_on_sending(console)
                token = console.link(owner(console))
                with serving(console.app) as url, sync_playwright() as playwright:
                    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                    page = browser.new_page(viewport=WIDE)
                    page.goto(f"{url}/sign-in/link/{token}")
                    page.get_by_role("button", name="Sign in").click()
                    account = f"{url}/accounts/{console.service.account_id}/live"
                    paths = pages_of(console)
                    running = console.service.get("/sends?status=sending").json["data"][0]["send_id"]
                    paths |= {"compose": paths["new message to a group"], "send": f"/sends/{running}"}
                    for name in ("overview", "compose", "send"):
                        page.goto(account + paths[name], wait_until="networkidle")
                        page.screenshot(path=PICTURES / f"{name}.png", full_page=name == "overview")
                    page.set_viewport_size({"width": 390, "height": 760})
                    page.emulate_media(color_scheme="dark")
                    page.goto(account + paths["send"], wait_until="networkidle")
                    page.screenshot(path=PICTURES / "phone.png")
                    browser.close()
    print(f"The pictures are in {PICTURES}.", file=sys.stderr)


if __name__ == "__main__":
    main()
