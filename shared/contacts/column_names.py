"""What the name of a column says about the phones in it, in the languages of the address books that people have."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

ANY_PHONE: Final = 3
"""The rank from which a name says that the column has phones."""
_LONG: Final = (
    r"phone|telef|mobil|mobiel|mobitel|mov[ie]l|celul|cellul|cellphone|portable|handy(?!man)|natel|komork|rufnummer"
    r"|whatsapp|msisdn|телеф|мобил|мобіл|сотов|手机|电话|thoai"
)
_SHORT: Final = r"(?:tel|cell?|mob|cep|simu|gsm|sms|hp|fone)(?:n[or]|num\w*)?"
_NUMBER: Final = r"numbers?|nummer|numero|num|namba|no|nr"
"""What a column of phones may also be called, but other columns are too."""
_PHONE = re.compile(rf"{_LONG}|\b{_SHORT}\b")
"""What is in the names of columns of phones, in small letters without accents."""
_WORD = re.compile(rf"(?:{_LONG})\w*|{_SHORT}|{_NUMBER}")
_MOBILE = re.compile(
    r"mobil|mobiel|mobitel|mov[ie]l|celul|cell|handy(?!man)|natel|portable|komork|\b(?:gsm|sms|simu|hp|mob|cep)\b"
    r"|мобил|мобіл|сотов|手机"
)
_CONTACT = re.compile(r"contacts?|kontakt|contacto|contato|recipients?")
_FAX = re.compile("fax|pager|telex")
_NO_PHONE = re.compile(rf"{_FAX.pattern}|\b(?:tty|ids?|code|carrier|types?|consent|count|accepts|verified|status)\b")
_FOR_ANOTHER = re.compile(
    r"assistant|emergency|spouse|partner|parent|guardian|mother|father|manager|notfall|urgence|landline|festnetz"
    r"|\b(?:fixe?|kin|alt(?:ernat\w*)?)\b"
)
"""Phones that are another person's, or a second choice."""
_OTHER_NUMBERS = re.compile(
    r"client|kunde|customer|account|konto|compte|cuenta|conta\b|order|bestell|auftrag|commande|pedido|\bid|kitambulisho"
    r"|invoice|rechnung|factur|\bref|code|\bdni\b|\bcpf\b"
)
"""What is in the names of columns with numbers that are no phones."""
_OF_SAME_PERSON = re.compile(
    r"home|work|business|privat|private|personal|other|main|primary|default|address|billing|shipping|customer|client"
    r"|contact|person|patient|kunden?|n|de|do|del|du|of|the"
)
_COUNTRY = re.compile(
    rf"(?:(?:{_OF_SAME_PERSON.pattern}|mailing|delivery|mobile|phone) )*"
    r"(?:country ?(?:code|region|iso|name)?(?: (?:region|iso|name|code))*|pays|land|pais|paese|kraj|ulke|nchi)"
    r"|(?:(?:country|international|phone|mobile|tel) )*(?:dial(?:l?ing)?|calling|phone|tel|isd) ?(?:code|prefix)"
    r"|indicatif(?: pays)?|landes?vorwahl|landercode|landervorwahl"
)
"""The names of columns with a country or its dial code. Those of addresses are such, too."""
_OPT_OUT = re.compile(
    r"(?P<before>(?:(?:has|is|sms|texts?|messages?|messaging|global|mobile|phone|marketing|customer|contact|person|date"
    r"|fecha|de|of|the|and|all|e|e?mails?) )*(?:has|is|sms|text|mobile|phone|marketing)*)"
    r"(?:opt(?:ed)? ?outs?|unsub(?:scribed?)?|(?:do ?not|dont) ?(?:text|sms|contact|disturb|call|message)|dnd|dnc"
    r"|(?:sms|text) stop|(?:black|block) ?list(?:ed)?|suppressed|(?P<refusal>no (?:sms|texts?|marketing))"
    r"|consent (?:revoked|withdrawn)|werbesperre|werbewiderruf(?:en)?|werbewiderspruch"
    r"|abgemeldet|abmeldung|abbestellt|desabonne|desinscrit|desabonnement"
    r"|desinscription|baja|no (?:contactar|molestar)|disiscritto|descadastrad[oa]|uitgeschreven|afgemeld|avregistrerad"
    r"|wypisan[ya]|отписан\w*|отписал\w*)"
    r"(?:sms|text|status|date|time)*"
    r"(?: (?:of|from|sms|texts?|messages|mobile|phone|marketing|status|date|time|at|on|utc|y|n|yes|no|flag|am"
    r"|vom|le|el))*"
)
"""The names of columns that say whether or when the person has opted out."""
_NUMBER_OF = re.compile(r"n(?:o?\.|[º°])|№", re.IGNORECASE)
"""How a name begins that is not one of opt-outs: `No. SMS` has a number."""
_CONSENT = re.compile(
    r"(?:(?:accepts|has|is|sms|texts?|mobile|phone|marketing|contact) )*"
    r"(?:consent|permission|opt(?:ed)? ?in|subscribed|subscription status)"
    r"(?: (?:to|for|of|sms|texts?|mobile|marketing|status))*"
    r"|sms subscription|(?:accepts )?(?:sms|text) (?:marketing|status)(?: status)?"
    r"|einwilligung|consentement|consentimiento|consenso"
)
"""The names of columns that say whether the person has agreed to get messages."""
_MAY_SAY_SO = re.compile(r"stat(?:us|ut\b)|estado|subscri|consent|opt|sms|marketing")
_SALESFORCE = re.compile(r"(?:[A-Za-z0-9]+__)?(?P<name>.+)__c")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MAIL = re.compile(r"mails?\b")
_OF_TEXTS = re.compile(r"\b(?:sms|texts?|phone|mobile)\b")
_LABELED = re.compile(r"(?P<name>\D+?) ?(?P<number>[0-9]+) - (?P<part>\w+)")
"""Google Contacts has `Phone 1 - Value`, and beside it `Phone 1 - Label` or `Phone 1 - Type`."""
_VALUE = ("value", "wert", "valeur", "valor", "valore", "waarde")


def rank(name: str) -> int:
    """How likely a column of this name has the phones to send to, if its values are phones.

    8 and 7: mobile phones, by nothing but that in the name and with more in it; 6 and 4: phones, likewise; 5: WhatsApp;
    3: phones of somebody else; 2: numbers or contacts; 0: anything; -1: other numbers.
    """
    words = _words(name)
    joined = " ".join(words)
    if _NO_PHONE.search(joined):
        return -1
    if _PHONE.search(joined) is None:
        if not words or _OTHER_NUMBERS.search(joined):
            return -1 if words else 0
        are_numbers = any(map(_CONTACT.fullmatch, words)) or all(re.fullmatch(_NUMBER, word) for word in words)
        return 2 if are_numbers else 0
    if _FOR_ANOTHER.search(joined):
        return ANY_PHONE
    is_plain = all(map(_WORD.fullmatch, words)) and not any(map(str.isdigit, name))
    if _MOBILE.search(joined):
        return 8 if is_plain else 7
    return 4 if not is_plain else 5 if "whatsapp" in words else 6


def is_of_same_person(name: str) -> bool:
    """Whether it says that the column has another phone of the person, such as `Home Phone` or `Phone 2`."""
    words = _words(name)
    return rank(name) > ANY_PHONE and all(_WORD.fullmatch(word) or _OF_SAME_PERSON.fullmatch(word) for word in words)


def is_of_opt_outs(name: str) -> bool:
    """Whether it says that the column has opt-outs, not only from e-mail."""
    found = _opt_out(name)
    return found is not None and not found["refusal"]


def is_of_refusals(name: str) -> bool:
    """Whether it is such as `No SMS`, of opt-outs if the column has words."""
    found = _opt_out(name)
    return found is not None and bool(found["refusal"])


def may_say_opted_out(name: str) -> bool:
    """Whether the column may say among other things that the person has opted out, but not from e-mail alone."""
    words = _words_in_code(name)
    return _MAY_SAY_SO.search(words) is not None and not _is_of_mail(words)


def is_of_texts(name: str) -> bool:
    """Whether that column is about texts."""
    return re.search(r"\b(?:sms|text)\b", _words_in_code(name)) is not None and may_say_opted_out(name)


def is_of_consent(name: str) -> bool:
    """Whether it says that the column has the person's consent to get messages."""
    return _CONSENT.fullmatch(_words_in_code(name)) is not None


def is_of_countries(name: str) -> bool:
    """Whether it says that the column has countries or their dial codes."""
    return _COUNTRY.fullmatch(" ".join(_words(name))) is not None


def says_mobile(label: str) -> bool:
    """Whether a label says that the phone beside it is a mobile phone."""
    return _MOBILE.search(" ".join(_words(label))) is not None


def says_fax(label: str) -> bool:
    """Whether a label says that the phone beside it gets no messages."""
    return _FAX.search(" ".join(_words(label))) is not None


def labeled_phones(names: Sequence[str]) -> list[tuple[int, int]]:
    """For each phone of a row of Google Contacts its column and that of its label, or -1."""
    found: dict[str, dict[bool, int]] = {}
    for at, name in enumerate(names):
        part = _LABELED.fullmatch(name.casefold())
        if part is not None and rank(part["name"]) > ANY_PHONE:
            found.setdefault(part["number"], {}).setdefault(part["part"] in _VALUE, at)
    return [(each[True], each.get(False, -1)) for each in found.values() if True in each]


def _opt_out(name: str) -> re.Match[str] | None:
    found = _OPT_OUT.fullmatch(_words_in_code(name))
    return None if found is None or _is_of_mail(found["before"]) or _NUMBER_OF.match(name) else found


def _is_of_mail(words: str) -> bool:
    return _MAIL.search(words) is not None and _OF_TEXTS.search(words) is None


def _words_in_code(name: str) -> str:
    """The words of a name that may be one of a program, such as `SMSOptOut__c`."""
    custom = _SALESFORCE.fullmatch(name)
    return " ".join(_words(_CAMEL_CASE.sub(" ", custom["name"] if custom else name)))


def _words(name: str) -> list[str]:
    """The words of a name in small letters without accents."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return re.findall(r"[^\W\d_]+", "".join(char for char in folded if not unicodedata.combining(char)))
