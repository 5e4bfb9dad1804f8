"""Joins the parts of a long text. Octets are joined before they are decoded: phones also cut within a character."""

from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

from shared.encryption import MARK
from shared.inbound.kinds import Inbound
from shared.sms import charsets


class Part(NamedTuple):
    """A part as it is kept until all have come."""

    content: str
    """Its octets in hex, or its text if there is no charset."""
    charset: str | None


def part_of(message: Inbound) -> Part:
    """The part in a message."""
    if message.coded is None:
        return Part(message.text.replace(MARK, "\ufffd"), None)
    return Part(message.coded.octets.hex(), message.coded.charset)


def join(parts: Mapping[int, Part]) -> str:
    """The text of the parts, by their numbers. Neighbors in one charset are decoded together."""
    text = []
    places = enumerate(sorted(parts))
    for (charset, _), run in groupby(places, key=lambda place: (parts[place[1]].charset, place[1] - place[0])):
        content = "".join(parts[number].content for _, number in run)
        text.append(content if charset is None else charsets.decode(bytes.fromhex(content), charset))
    return "".join(text)
