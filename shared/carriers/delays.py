"""Delays that are counted in buckets, as Prometheus counts them, and what is read from them.

A bucket is named by its upper bound in seconds, as in the label `le`: `0.5`, or `+Inf` for the last one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isinf

Buckets = Mapping[str, int]


def sum_of(counted: Iterable[Buckets]) -> Buckets:
    """What several processes have counted."""
    total: Counter[str] = Counter()
    for buckets in counted:
        total.update(buckets)
    return total


def quantile(share: float, buckets: Buckets) -> float | None:
    """The seconds that this share of the delays does not exceed; None if none was counted.

    Within a bucket delays are taken to be spread evenly, and what is longer than the last bound to be as long as it.
    """
    wanted, low = share * sum(buckets.values()), 0.0
    if not wanted:
        return None
    for high, count in sorted((float(bound), count) for bound, count in buckets.items()):
        if count and (wanted <= count or isinf(high)):
            return low if isinf(high) else low + (high - low) * wanted / count
        wanted, low = wanted - count, high
    return low
