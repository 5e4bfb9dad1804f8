"""Collects the console's texts and compiles their translations: `python -m console.texts`, which is `make texts`.

English is in the code. A translation is a file such as translations/de/LC_MESSAGES/messages.po. The compiled file is
part of the repository too, so that nothing has to be built to run the console.
"""

from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from shared.carriers.error_catalogue import CATALOGUE

ROOT = Path(__file__).parent
TRANSLATIONS = ROOT / "translations"
METHODS = [("**.py", "python"), ("**.html", "jinja2.ext:babel_extract")]
OPTIONS = {"**.html": {"trimmed": "true"}}
KEYWORDS = {"_": None, "gettext": None, "counted": (1, 2), "lazy_gettext": None}


def collect() -> Catalog:
    """All texts of the code, the templates, and the catalogue of messages' errors."""
    catalog = Catalog(fuzzy=False)
    for name, _, message, _, _ in extract_from_dir(ROOT, METHODS, OPTIONS, KEYWORDS):
        catalog.add(message, locations=[(Path(name).as_posix(), 1)], flags=())
    for error in CATALOGUE.values():
        for text in (error.title, error.meaning, error.remediation):
            catalog.add(text, flags=())
    return catalog


def read(file: Path) -> Catalog:
    """Read a translation."""
    with file.open("rb") as stream:
        return read_po(stream, locale=file.parent.parent.name)


def compiled(catalog: Catalog) -> bytes:
    """The translation in the binary format that the console reads."""
    stream = BytesIO()
    write_mo(stream, catalog)
    return stream.getvalue()


def main() -> None:
    """Bring every translation up to date with the code, and compile it."""
    collected = collect()
    for file in sorted(TRANSLATIONS.glob("*/LC_MESSAGES/messages.po")):
        catalog = read(file)
        created = catalog.creation_date
        catalog.update(collected, no_fuzzy_matching=True)
        catalog.creation_date = created  # the file changes only with its texts
        catalog.project, catalog.version = "Bulk SMS", "console"
        catalog.msgid_bugs_address = catalog.last_translator = catalog.language_team = ""
        catalog.obsolete.clear()
        catalog.fuzzy = False
        with file.open("wb") as stream:
            write_po(stream, catalog, width=120, no_location=True, omit_header=False, sort_output=True)
        file.with_suffix(".mo").write_bytes(compiled(catalog))


if __name__ == "__main__":
    main()
