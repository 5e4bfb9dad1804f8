"""What carriers send is not trusted: random and mutated PDUs, receipts, responses and calls against all their readers.

    python -m tests.fuzz --runs 1000000 --seed 0

corpus    what each target is fed with, before it is spoiled     mutate  how it is spoiled
targets   what reads it, and what may come of it                 run     the loop: no crash, no hang, memory flat
over_smpp the same loop, for a running SMPP server
"""
