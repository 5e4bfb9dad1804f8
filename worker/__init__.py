"""The workers: expand groups, submit to carriers, record what happened, recover what was left behind."""
