"""Computes the hardware that a rate needs from the measured processor time per message."""

from bench.result import Case, load

RATES = (1_000, 10_000, 100_000)
USE = 0.7
"""Planned utilization of a core. The rest is for peaks, vacuum and checkpoints."""
GROUPS = ("api", "worker", "postgres", "redis")
SOURCES = (
    ("bulk, without receipts", "bulk", "1 x 100,000, without"),
    ("bulk, with receipts", "bulk", "1 x 100,000, with receipts"),
    ("single, with receipts", "single", "64 clients, with receipts"),
)


def sizing() -> str:
    """Cores per group for each rate, in Markdown: rate x processor µs per message / 1,000,000 / USE."""
    lines = [
        "### Cores for a rate\n",
        f"How many cores like those measured here each group needs, used to {USE:.0%}:\n",
    ]
    lines += ["| traffic | messages/s | " + " | ".join(GROUPS) + " | together |"]
    lines += ["|---|" + "---:|" * (len(GROUPS) + 2)]
    rows = [row for title, name, case in SOURCES if (found := _case(name, case)) for row in _rows(title, found)]
    return "\n".join([*lines, *rows]) + "\n" if rows else ""


def _rows(title: str, case: Case) -> list[str]:
    rows = []
    for rate in RATES:
        cores = [rate * case.cpu_us[group] / 1e6 / USE for group in GROUPS]
        rows.append(f"| {title} | {rate:,} | " + " | ".join(f"{value:.1f}" for value in (*cores, sum(cores))) + " |")
    return rows


def _case(name: str, case: str) -> Case | None:
    result = load(name)
    return next((each for each in result.cases if each.name == case and each.cpu_us), None) if result else None
