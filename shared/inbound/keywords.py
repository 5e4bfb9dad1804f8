"""What people write to opt out, and to opt in again.

A text opts out if it consists of a word to stop, alone or with courtesies, with what it is about and with its sender's
or its recipient's own name or number ("Stop. Thank you", "STOP SMS", "STOP ACME" to ACME), or if a sentence of it
plainly asks for it ("I am at work. Stop texting me!"). Lines below may be a signature. What begins or ends with such a
word, or contains a request, and goes on with other words is a possible opt-out, which a person decides. "Don't stop"
and "please stop by at 5" are neither. Opting in takes one of the words for it and nothing else.

At each place, the longest phrase that is known is read: the time grows with the length of the text, up to MAX_READ.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from enum import Enum, StrEnum, auto

from shared.inbound import opt_out_words as words_of


class Keyword(StrEnum):
    """What a text asks for."""

    STOP = "stop"
    START = "start"
    POSSIBLE_STOP = "possible_stop"


MAX_LENGTH = 60
"""Longer texts, in characters, opt nobody in."""
MAX_READ = 400
"""Characters of a text that are read. More may follow only below a signature or a plain request."""
MAX_OTHER_WORDS = 11
"""Most other words of a text in which a request or a last STOP counts: a longer one is about something else."""


class _Kind(Enum):
    """What a word or phrase of a text is."""

    STOP = auto()
    AMBIGUOUS = auto()
    REQUEST = auto()
    REFUSAL = auto()
    UNWANTED = auto()
    MESSAGES = auto()
    FILLER = auto()
    COURTESY = auto()
    NEGATION = auto()
    OTHER = auto()


_ASKING = (_Kind.STOP, _Kind.AMBIGUOUS, _Kind.REQUEST, _Kind.REFUSAL)

_Phrase = tuple[str, ...]
_Read = list[tuple[_Phrase, _Kind]]

_IGNORABLE = re.compile("[\u00ad\u034f\u0640\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
"""Characters that nobody sees beside those of category Cf (Unicode, Default_Ignorable_Code_Point); and the tatweel."""
_LINES = re.compile(r"[\r\n\u2028\u2029]+|\s(?:--|\u2014)\s")
_SENTENCES = re.compile(r"[.!?;\u3002\uff01\uff1f\u061f\u061b\u0964]+")
_CLAUSES = re.compile(rf"{_SENTENCES.pattern}|[,\u3001\uff0c\u060c]+")
_SIGNATURE = re.compile(
    r"\s*(?:--|__|\u2014|[-_*]{2,}|sent (?:from|via)|get outlook|envoye d|gesendet von|von meine?m|enviado d|enviada d"
    r"|inviato da|verzonden|skickat fran|wyslano z|(?:kind |best )?regards|best\b|thanks|thank you|cheers|отправлено)"
)
_REACTION = re.compile(
    r"\s*(?:liked|loved|disliked|laughed at|emphasi[sz]ed|questioned|removed an? [\w ]{1,20} from"
    r"|reacted .{1,9} to|[^\x00-\x7f\w]+ to)\s*[\"\u201c\u201e\u00ab].*[\"\u201c\u201d\u00bb]\s*",
    re.DOTALL | re.IGNORECASE,
)
"""What phones send when a person reacts to a message, which they quote (Apple)."""
_APOSTROPHES = re.compile(r"['\u2018\u2019\u02bc`\u00b4]")
_REPEATED = re.compile(r"([^\W\d_])\1{2,}")
_WITHOUT_ACCENT = str.maketrans("ıłđø", "ildo")
"""Letters that Unicode does not decompose."""
_NUMBER = re.compile(r"\+?\d[\d ().\-]{4,}\d", re.ASCII)
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_BETWEEN = re.compile(r"[\s\-_]+")
_ACHA = re.compile(r"\bacha\b", re.IGNORECASE)


def keyword_of(text: str, sent_to: str = "", phone: str = "") -> Keyword | None:
    """What the text asks for; None for any other text.

    The sender ID that it was `sent_to` and the phone that it is from may be named in it. Elsewhere than where Swahili
    is spoken, ACHA is the Hindi and Urdu "okay": a person decides.
    """
    found = _keyword_of(text, (sent_to, phone))
    is_okay = phone and not phone.startswith(words_of.SWAHILI_SPEAKING) and _ACHA.search(text)
    return Keyword.POSSIBLE_STOP if found is Keyword.STOP and is_okay else found


def _keyword_of(text: str, own: Sequence[str]) -> Keyword | None:
    if len(text) <= MAX_LENGTH and _alone(text) in _STARTS:
        return Keyword.START
    visible = _visible(text[:MAX_READ])
    if _REACTION.fullmatch(visible):
        return None
    lines = [line for line in _LINES.split(visible) if line.strip()]
    if not lines:
        return None
    is_whole = len(text) <= MAX_READ
    sentences = _SENTENCES.split(visible)
    if is_whole and (_of_line(" ".join(lines), own) is Keyword.STOP or _has_plain_part(sentences, own, _makes_request)):
        return Keyword.STOP
    found = [_of_line(line, own) for line in lines]
    if found[0] is Keyword.STOP and len(lines) > 1 and _is_signed(visible, lines):
        return Keyword.STOP
    asks = any(found) or any(_of_line(sentence, own) is Keyword.STOP for sentence in sentences)
    # "I'm not John, please stop": between commas, only words that mean nothing else ask.
    asks = asks or _has_plain_part(_CLAUSES.split(visible), own, _means_nothing_else)
    return Keyword.POSSIBLE_STOP if asks else None


def _of_line(line: str, own: Sequence[str]) -> Keyword | None:
    """What a line asks for."""
    read = _read(line, own)
    kinds = [kind for _, kind in read]
    place = next((place for place, kind in enumerate(kinds) if kind in _ASKING), None)
    if place is None:
        return None
    if _Kind.NEGATION in kinds[:place]:
        return Keyword.POSSIBLE_STOP if _asks_after_negation(kinds) else None
    asks = _makes_request(kinds)
    if not asks and kinds[place] is not _Kind.REFUSAL and _is_elsewhere(read, place):
        return None
    if _Kind.OTHER in kinds or _Kind.NEGATION in kinds:
        return Keyword.POSSIBLE_STOP if _may_ask(kinds, place, asks=asks) else None
    if _Kind.STOP in kinds or asks:
        return Keyword.STOP
    is_about_messages = not {*kinds[:place]} - {_Kind.COURTESY} and (
        _Kind.MESSAGES in kinds or _Kind.FILLER not in kinds
    )
    return Keyword.STOP if kinds[place] is _Kind.AMBIGUOUS and is_about_messages else Keyword.POSSIBLE_STOP


def _asks_after_negation(kinds: Sequence[_Kind]) -> bool:
    """Whether a request follows that the negation before it is not about: "I never signed up stop texting me"."""
    if _Kind.REQUEST not in kinds:
        return False
    request = kinds.index(_Kind.REQUEST)
    negation = max(place for place in range(request) if kinds[place] is _Kind.NEGATION)
    return _Kind.OTHER in kinds[negation:request] and kinds.count(_Kind.OTHER) <= MAX_OTHER_WORDS


def _makes_request(kinds: Sequence[_Kind]) -> bool:
    return _Kind.REQUEST in kinds or (_Kind.REFUSAL in kinds and _Kind.MESSAGES in kinds)


def _may_ask(kinds: Sequence[_Kind], place: int, *, asks: bool) -> bool:
    """Whether a line with other words may be an opt-out: by a request in it, or by its first or last words.

    `place` is that of its first word or phrase that can ask to stop.
    """
    others, begins = kinds.count(_Kind.OTHER), _Kind.OTHER not in kinds[:place]
    if asks:
        return begins or others <= MAX_OTHER_WORDS
    if kinds[place] is _Kind.AMBIGUOUS:
        return begins and others == 1
    ends = _Kind.STOP in kinds and not {*kinds[place + 1 :]} - {_Kind.COURTESY, _Kind.FILLER, _Kind.STOP}
    return kinds[place] is _Kind.STOP and (begins or (ends and others <= MAX_OTHER_WORDS))


def _is_elsewhere(read: _Read, place: int) -> bool:
    """Whether the word to stop at this place is a thing, or is to stop something else."""
    before = read[place - 1][0] if place else ("",)
    after, kind = read[place + 1] if place + 1 < len(read) else (("",), _Kind.OTHER)
    is_elsewhere = after[0] in _ELSEWHERE and kind is not _Kind.COURTESY
    return before[-1] in _THINGS or is_elsewhere or _is_of_other_thing(read, place)


def _is_of_other_thing(read: _Read, place: int) -> bool:
    """Whether nothing follows but what is canceled, or has a stop, apart from messages: "cancel my order"."""
    things = _OF_OTHER_THINGS if read[place][1] is _Kind.AMBIGUOUS else {"bus"}
    object_of = [phrase[0] for phrase, kind in read[place + 1 :] if kind not in (_Kind.FILLER, _Kind.COURTESY)]
    return bool(object_of) and things.issuperset(object_of) and _Kind.MESSAGES not in [kind for _, kind in read]


def _has_plain_part(parts: Sequence[str], own: Sequence[str], is_plain: Callable[[Sequence[_Kind]], bool]) -> bool:
    """Whether one of the parts of a text asks to stop, with words that are plain."""
    return any(
        _of_line(part, own) is Keyword.STOP and is_plain([kind for _, kind in _read(part, own)]) for part in parts
    )


def _means_nothing_else(kinds: Sequence[_Kind]) -> bool:
    return _Kind.STOP in kinds or _Kind.REQUEST in kinds


def _is_signed(text: str, lines: Sequence[str]) -> bool:
    """Whether what is below the first line is a signature: after an empty line, or as signatures begin."""
    below = text.strip()[len(lines[0].strip()) :]
    return re.match(r"[^\S\r\n]*(?:\r?\n[^\S\n]*\n|\s(?:--|\u2014)\s)", below) is not None or (
        _SIGNATURE.match(_plain(lines[1])) is not None
    )


def _read(line: str, own: Sequence[str]) -> _Read:
    """The words of a line as the longest phrases that are known, with what each is. Own names are courtesies."""
    words = _words(_NUMBER.sub(lambda match: _without_own(match[0], own), line))
    if len(words) > 2 and all(len(word) == 1 for word in words):  # S T O P
        words = ["".join(words)]
    names = {tuple(_words(name)) for name in own}
    read: _Read = []
    while words:
        for count in range(min(_LONGEST, len(words)), 0, -1):
            phrase = tuple(words[:count])
            kind = _Kind.COURTESY if phrase in names else _KINDS.get(phrase)
            if kind is not None or count == 1:
                read.append((phrase, kind or _Kind.OTHER))
                del words[:count]
                break
    return [(phrase, _settled(kind, read[place + 1 :])) for place, (phrase, kind) in enumerate(read)]


def _settled(kind: _Kind, after: _Read) -> _Kind:
    """What UNWANTED is: the opposite before a word to stop, and a refusal before others."""
    if kind is not _Kind.UNWANTED:
        return kind
    following = next((each for _, each in after if each not in (_Kind.FILLER, _Kind.COURTESY)), None)
    return _Kind.NEGATION if following in _ASKING else _Kind.REFUSAL


def _without_own(written: str, own: Sequence[str]) -> str:
    """A number in a text, or nothing if it is an own one, also if it is written as a national number."""
    digits = re.sub(r"\D", "", written)
    is_own = any(digits in (each, f"00{each}") or each.endswith(digits.lstrip("0")) for each in own if each.isdigit())
    return " " if is_own else written


def _visible(text: str) -> str:
    """The text in its compatibility form, without characters that nobody sees, such as zero-width spaces."""
    compatible = _IGNORABLE.sub("", unicodedata.normalize("NFKC", text))
    return "".join(char for char in compatible if unicodedata.category(char) != "Cf")


def _plain(text: str) -> str:
    """Without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).translate(_WITHOUT_ACCENT)


def _words(text: str) -> list[str]:
    """The words of a text in their plain form. Vowel signs, as of Hindi, belong to words; STOOOP is STOP."""
    plain = _APOSTROPHES.sub("", _plain(_visible(text)))
    spaced = "".join(char if unicodedata.category(char)[:2] in _OF_WORDS else " " for char in plain)
    return _REPEATED.sub(r"\1", spaced).split()


def _alone(text: str) -> str:
    """A text in its plain form without what is around it."""
    return _BETWEEN.sub(" ", _AROUND.sub("", _plain(text)))


def _phrases(phrase_list: str) -> list[_Phrase]:
    listed = (phrase for line in phrase_list.splitlines() for phrase in line.split(",") if phrase.strip())
    return [tuple(_words(phrase)) for phrase in listed]


_OF_WORDS = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No"}
_STARTS = {_alone(phrase) for line in words_of.START_WORDS.strip().splitlines() for phrase in line.split(",")}
_LISTS = {
    _Kind.FILLER: words_of.FILLERS,
    _Kind.MESSAGES: words_of.MESSAGES,
    _Kind.COURTESY: words_of.COURTESIES,
    _Kind.NEGATION: words_of.NEGATIONS,
    _Kind.REFUSAL: words_of.REFUSALS,
    _Kind.UNWANTED: words_of.UNWANTED,
    _Kind.AMBIGUOUS: words_of.AMBIGUOUS_STOP_WORDS,
    _Kind.STOP: words_of.STOP_WORDS,
    _Kind.REQUEST: words_of.REQUESTS,
}
"""A phrase in several lists is what the last of them says."""
_KINDS = {phrase: kind for kind, phrase_list in _LISTS.items() for phrase in _phrases(phrase_list)}
_LONGEST = max(map(len, _KINDS))
_ELSEWHERE = {phrase[0] for phrase in _phrases(words_of.GOES_ELSEWHERE)}
_OF_OTHER_THINGS = {phrase[0] for phrase in _phrases(words_of.OF_OTHER_THINGS)}
_THINGS = {phrase[0] for phrase in _phrases(words_of.NAMES_A_STOP)}
