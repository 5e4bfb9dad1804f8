"""Attacks on a running service, each with a victim beside it: another account that goes on sending.

    python -m tests.hostile.run --seconds 60

strangers, customers, churn, people, insiders
                       the attacks, which run in a process of their own (attacker.py), from a hundred addresses
scenarios              their catalogue, with what must come back of each: an attack on nothing would harm nobody
victim                 single sends at a steady rate and all other requests now and then, and what came of them
owned, ground          what the attacker owns; the service, the attack and the victim together
felt, memory, achieved what the victim felt, how much memory the service took, and what no attack may achieve
run                    all of it at length, as a table
"""
