"""Reads the catalogue of mutations."""

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path

CATALOGUE = Path(__file__).parent / "catalogue"


@dataclass(frozen=True, slots=True)
class Mutation:
    """One small change that breaks one promise, and the tests that must notice it."""

    promise: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    equal: str = ""
    """Why the change alters nothing that a test could see; then there are no tests."""

    def problem(self, root: Path) -> str | None:
        """What is wrong with the entry itself, for the source tree `root`."""
        path = root / self.file
        if not path.is_file():
            return f"{self.file} does not exist"
        code = path.read_text()
        count = code.count(self.old)
        if count != 1:
            return f"`old` occurs {count} times in {self.file}"
        if self.old == self.new:
            return "`old` and `new` are the same"
        if path.suffix == ".py" and not _compiles(code.replace(self.old, self.new)):
            return f"`new` leaves {self.file} without valid syntax"
        if bool(self.tests) == bool(self.equal):
            return "it needs either `tests` or `equal`"
        files = [test.partition("::")[0] for test in self.tests]
        missing = [file for file in files if not (root / file).exists()]
        return f"{missing[0]} does not exist" if missing else None

    def apply(self, root: Path) -> None:
        """Change the file in the source tree `root`."""
        path = root / self.file
        path.write_text(path.read_text().replace(self.old, self.new))


def _compiles(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def mutations() -> list[Mutation]:
    """All of them, in the order of the catalogue's files."""
    return [
        Mutation(**{**entry, "tests": tuple(entry.get("tests", ()))})
        for file in sorted(CATALOGUE.glob("*.toml"))
        for entry in tomllib.loads(file.read_text()).get("mutation", [])
    ]
