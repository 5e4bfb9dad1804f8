"""The ledger and the states of everything that has one are each written by one module."""

import ast
import re
from functools import cache
from pathlib import Path

import shared.ids
from tests.harness.syntax_trees import syntax_tree

ROOT = Path(shared.ids.__file__).parent.parent
PACKAGES = ("api", "worker", "shared", "bulksms")


@cache
def statements() -> list[tuple[str, str]]:
    """Every string of the code but migrations, with the file's path. Of an f-string the literal parts."""
    found = []
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "versions" in path.parts:
                continue
            for node in ast.walk(syntax_tree(path)):
                if isinstance(node, ast.JoinedStr):
                    parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
                    found.append((str(path.relative_to(ROOT)), "".join(map(str, parts))))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append((str(path.relative_to(ROOT)), node.value))
    return found


@cache
def modules() -> dict[str, ast.Module]:
    """The code but migrations, by the files' paths."""
    return {
        str(path.relative_to(ROOT)): syntax_tree(path)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "versions" not in path.parts
    }


WRITES = ("insert", "update", "delete")


def written_table(node: ast.expr, constants: dict[str, ast.expr], verb: str) -> str | None:
    """The table of `update(table)`, as of another verb, at the beginning of a chain of calls."""
    seen = set[str]()
    while True:
        name = ast.unparse(node).rpartition(".")[2] if isinstance(node, ast.Name | ast.Attribute) else ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == verb:
            return ast.unparse(node.args[0]).rpartition(".")[2]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif name in constants and name not in seen:
            seen.add(name)
            node = constants[name]
        else:
            return None


def test_only_the_ledger_writes_entries() -> None:
    writers = {path for path, statement in statements() if re.search(r"INSERT\s+INTO\s+ledger\b", statement)}
    with_table = {
        path
        for path, module in modules().items()
        for call in ast.walk(module)
        if isinstance(call, ast.Call) and any(written_table(call, {}, verb) == "ledger" for verb in WRITES)
    }
    assert writers | with_table == {"shared/ledger/ledger.py"}


def test_no_statement_deletes_or_changes_an_entry() -> None:
    assert [path for path, sql in statements() if re.search(r"(UPDATE\s+|DELETE\s+FROM\s+)ledger\b", sql)] == []
