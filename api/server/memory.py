"""Returns the memory of large request bodies to the system."""

import ctypes

M_MMAP_THRESHOLD = -3
"""From glibc's malloc.h."""
MMAP_BYTES = 262_144


def map_large_buffers() -> None:
    """Let malloc map each buffer of MMAP_BYTES or more separately, so that the system gets it back when it is freed.

    glibc would raise that size to that of the largest buffer freed so far; later bodies would then lie between small
    objects on the heap, which keeps its largest extent. Does nothing with a C library that has no mallopt.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MMAP_BYTES)
