"""What a row says of its person: to have opted out, or not to have agreed to get messages."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from shared.contacts.column_names import (
    is_of_consent,
    is_of_opt_outs,
    is_of_refusals,
    is_of_texts,
    may_say_opted_out,
)
from shared.contacts.formulas import value_of

_FALSE: Final = (
    r"0+(?:[.,]0+)?|no?|false|f|unchecked|n[aã]o|nej|nei|nein|nee|nie|non|ne|nem|nu|ei|нет|не|ні|否|hapana|hay[i\u0131]r"
    r"|falsch|falso|faux|onwaar|fałsz|falskt?|yanl[i\u0131]ş|ложь|usann|hamis|nepravda|epätosi|fals"  # of spreadsheets
)
_NOT_OPTED_OUT = re.compile(
    rf"{_FALSE}|0+[-/.]0+[-/.]0+.*|null|none|never|n/?a|nil|nan|\\n|\?|keine?r?|ningun[oa]|alta|a[ck]tiv[eo]?"
    r"|(?:opt(?:ed)?[ _-]?)?in|subscribed|not .*"
)
_NO_CONSENT = re.compile(rf"{_FALSE}|unsubscribed?|(?:not|never)[ _].*|never|revoked|withdrawn|denied|declined")
_PLAIN_OPT_OUT = re.compile(
    r"unsubscribed?|opt(?:ed)?[ _-]?out|(?:block|black)[ _-]?listed|d[ée]sabonn[ée]e?"
    r"|d[ée]sinscrite?|abgemeldet|baja"
)
_OF_TEXTS = re.compile(r"stop(?:ped)?|blocked|suppressed")
"""Opt-outs only in a column about texts: a customer may be blocked for another reason."""


class ConsentColumns(NamedTuple):
    """The columns that say whether a person may get messages, by their names."""

    opt_outs: Sequence[int] = ()
    """They say whether or when the person has opted out: any value counts but those for no."""
    answers: Sequence[int] = ()
    """They may say plainly that the person has opted out, as a status does."""
    of_texts: Sequence[int] = ()
    """Those of the answers that are about texts."""
    consents: Sequence[int] = ()
    """They say whether the person has agreed to get messages: those about texts, if any is."""
    refusals: Sequence[int] = ()
    """Their words count like opt-outs, but not their numbers, which may be phones."""

    def opt_out_cells(self, cells: Sequence[str]) -> dict[int, str]:
        """By its column, each cell that says whether or when the person has opted out, in small letters."""
        columns = (*self.opt_outs, *self.refusals)
        found = {at: value for at in columns if at < len(cells) and (value := _value(cells[at]).strip(" -"))}
        return {at: value for at, value in found.items() if at in self.opt_outs or not any(map(str.isdigit, value))}

    def say_opted_out(self, cells: Sequence[str]) -> bool:
        """Whether a row says that its person has opted out."""
        return (
            not all(map(_NOT_OPTED_OUT.fullmatch, self.opt_out_cells(cells).values()))
            or any(map(_PLAIN_OPT_OUT.fullmatch, _values(cells, self.answers)))
            or any(map(_OF_TEXTS.fullmatch, _values(cells, self.of_texts)))
        )

    def say_no_consent(self, cells: Sequence[str]) -> bool:
        """Whether a row says that its person has not agreed to get messages."""
        return any(map(_NO_CONSENT.fullmatch, _values(cells, self.consents)))


def consent_columns(names: Sequence[str]) -> ConsentColumns:
    """Those among the columns with these names."""

    def found(is_wanted: Callable[[str], bool]) -> list[int]:
        return [at for at, name in enumerate(names) if is_wanted(name)]

    consents = found(is_of_consent)
    consents = [at for at in consents if is_of_texts(names[at])] or consents
    opt_outs, answers, of_texts, refusals = map(found, (is_of_opt_outs, may_say_opted_out, is_of_texts, is_of_refusals))
    return ConsentColumns(opt_outs, answers, of_texts, consents, refusals)


def _values(cells: Sequence[str], columns: Sequence[int]) -> list[str]:
    return [_value(cells[at]) for at in columns if at < len(cells)]


def _value(cell: str) -> str:
    return value_of(cell.strip()).casefold()
