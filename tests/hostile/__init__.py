"""Attacks on a running service, each with a victim beside it: another account that goes on sending.

    python -m tests.hostile.run --seconds 60

strangers, customers, people   the attacks, which run in a process of their own (attacker.py), from a hundred addresses
scenarios              their catalogue
victim                 single sends at a steady rate, and what came of them
ground                 the service, the attack and the victim together
poison                 objects at which workers fail whenever they try them, and the jobs of others beside them
run                    all of it at length, with the table of what the victim felt
"""
