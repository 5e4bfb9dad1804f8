"""Explores until enough was tried: `python -m tests.contract.run --cases 10000 [--seed 1]`."""

import argparse
import sys
import tempfile
from pathlib import Path

from api.endpoint import ENDPOINTS
from shared.audit.check import Breach
from tests.contract.explore import Exploration, books, explore
from tests.harness.database import fresh_database
from tests.harness.servers import make_migrated_postgres


def main() -> int:
    """Explore, round by round, each with the next seed. Ends with 1 when anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    whole, seed, breaches = Exploration(), chosen.seed, list[Breach]()
    with tempfile.TemporaryDirectory(prefix="contract-") as folder:
        Path(folder).chmod(0o755)
        with make_migrated_postgres(Path(folder), durable=False) as server:
            server.start()
            engine = fresh_database(server)
            while whole.total < chosen.cases:
                per_operation = max(10, (chosen.cases - whole.total) // len(ENDPOINTS))
                one = explore(engine, min(per_operation, 200), seed)
                whole.cases += one.cases
                whole.answered += one.answered
                whole.refused += one.refused
                whole.findings |= one.findings
                print(f"seed {seed}: {whole.total:,} requests, {len(whole.findings)} findings", flush=True)
                seed += 1
            breaches = books(engine)
            engine.dispose()
    tried = {label for label, _ in whole.answered}
    refused = tried - {label for label, status in whole.answered if status < 300}
    print(f"By phase: {dict(whole.cases)}; {len(tried)} operations, of which never succeeded: {len(refused)}")
    for label in sorted(refused):
        codes = {code: times for (other, code), times in whole.refused.most_common() if other == label}
        print(f"  {label}: {codes}")
    print(f"Breaches of the books: {breaches or 'none'}")
    for finding, example in whole.findings.items():
        print(f"\n✗ {' · '.join(finding)}\n{example}")
    return 1 if whole.findings or breaches else 0


if __name__ == "__main__":
    sys.exit(main())
