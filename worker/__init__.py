"""The workers: expand groups, submit to carriers, record outcomes, recover after crashes."""
