"""Old names of options and subcommands, which are still accepted but no longer shown."""

from collections.abc import Callable


def renamed(**new_names: str) -> dict[str, Callable[[str], str]]:
    """Settings of a command that also accepts the old names of its options or subcommands: `renamed(old="new")`."""
    return {"token_normalize_func": lambda name: new_names.get(name, name)}
