"""The syntax trees of the project's files, each parsed once: several tests read all of them."""

import ast
from functools import cache
from pathlib import Path


@cache
def syntax_tree(path: Path) -> ast.Module:
    """The tree of a file. Do not change it."""
    return ast.parse(path.read_text(), str(path))
