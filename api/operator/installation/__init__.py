"""The installation: jobs set aside, audits, doctor and guard."""
