"""Spoils octets: a seed says how, so that a finding can be had again."""

import random

BORDERS = (0, 1, 3, 4, 15, 16, 17, 0x7F, 0x80, 0xFE, 0xFF)
WIDE = (0, 1, 15, 16, 17, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
WORDS = (b"\0", b"\0\0", b"id:", b"stat:", b"DELIVRD", b" err:", b"\xff" * 4, b"\x1b", b"\xd8\x3d", b"{", b"[", b'"')
LONGEST = 4_096


class Mutator:
    """Spoils by one source of chance."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def spoil(self, data: bytes, other: bytes) -> bytes:
        """The data after a few changes; `other` is what parts of it may be exchanged with."""
        made = bytearray(data)
        for _ in range(self._rng.choice((1, 1, 1, 2, 3, 8))):
            self._change(made, other)
        return bytes(made[:LONGEST])

    def noise(self) -> bytes:
        """Octets of nothing."""
        return self._rng.randbytes(self._rng.choice((0, 1, 3, 4, 15, 16, 17, 33, 100, 700)))

    def pieces(self, data: bytes) -> list[bytes]:
        """The data as a connection may bring it."""
        made = []
        while data:
            size = self._rng.choice((1, 2, 15, 16, 17, 64, len(data)))
            made.append(data[:size])
            data = data[size:]
        return made

    def _change(self, made: bytearray, other: bytes) -> None:
        rng = self._rng
        place = rng.randrange(len(made) + 1)
        match rng.randrange(8):
            case 0 if place < len(made):
                made[place] ^= 1 << rng.randrange(8)
            case 1 if place < len(made):
                made[place] = rng.choice(BORDERS)
            case 2:
                made[place : place + rng.randrange(1, 9)] = b""
            case 3:
                made[place:place] = rng.choice(WORDS)
            case 4:
                made[place:place] = rng.randbytes(rng.randrange(1, 9))
            case 5 if len(made) >= 4:
                at = rng.randrange(len(made) - 3)
                made[at : at + 4] = rng.choice(WIDE).to_bytes(4, "big")
            case 6 if other:
                start = rng.randrange(len(other))
                made[place : place + rng.randrange(1, 40)] = other[start : start + rng.randrange(1, 40)]
            case _:
                made[place:place] = made[max(0, place - rng.randrange(1, 200)) : place]
