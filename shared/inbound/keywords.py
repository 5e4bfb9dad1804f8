"""What people write to opt out, and to opt in again.

A text opts out if its first line is one of these words, alone or with courtesies and with what it is about ("Stop.
Thank you", "STOP SMS", "STOP ACME" to ACME), or if it plainly asks for it ("stop texting me"). Lines below it may be a
signature. US rules name stop, quit, end, revoke, opt out, cancel and unsubscribe, and let people revoke consent in any
reasonable way (47 CFR 64.1200(a)(10)).

What is likely but not certain is a possible opt-out, which a person decides. "Don't stop" and "please stop by at 5" are
neither. Opting in takes one of the words for it and nothing else.
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache


class Keyword(StrEnum):
    """What a text asks for."""

    STOP = "stop"
    START = "start"
    POSSIBLE_STOP = "possible_stop"


PLAIN_STOP_WORDS = """
    STOP, STOPP, STOP ALL, STOPALL, STOPS, UNSUBSCRIBE, UNSUSCRIBE, UNSUBCRIBE, UNSUB, OPT OUT, OPTOUT, REMOVE ME
    ARRET, ARRETER, ARRETEZ, DESABONNER, DESINSCRIRE, DISISCRIVI, DEZABONARE, ABMELDEN, ABBESTELLEN, AFMELDEN
    AVREGISTRERA, AFMELD, REZYGNUJE, ODHLASIT, ACHA, SIMAMA, KOMESHA, SITISHA, JIONDOE, JOOJI, TSAYA, BERHENTI, IPTAL
    СТОП, ОТПИСАТЬСЯ, ОТПИСКА, ВІДПИСАТИСЯ, ΣΤΟΠ, ΔΙΑΓΡΑΦΗ, הסר, הסרה, עצור, إيقاف, توقف, قف, إلغاء, لغو
    አቁም, रोकें, रोको, स्टॉप, বন্ধ, நிறுத்து, ఆపు, หยุด, ยกเลิก, 停止, 退订, 退訂, 配信停止, 수신거부
"""
AMBIGUOUS_STOP_WORDS = """
    CANCEL, END, QUIT, REVOKE, REMOVE, FIN, TD, PARAR, PARE, ALTO, BAJA, CANCELAR, SAIR, FERMA, CANCELLA, HALT, AVSLUTA
    LOPETA, ZATRZYMAJ, YIMA, DUR, RET, HUY, बंद, 중지
"""
"""Words of which a sentence may begin that is about something else."""
START_WORDS = """
    START, UNSTOP, RESUME, SUBSCRIBE, OPT IN, OPTIN
    COMMENCER, REPRENDRE, INICIAR, REANUDAR, ALTA, COMECAR, INIZIA, STARTEN, ANMELDEN, AANMELDEN, STARTA, WZNOW
    ANZA, ENDELEA, BASLA, BASLAT, MULAI, СТАРТ, ПОДПИСАТЬСЯ, ΕΝΑΡΞΗ, התחל, ابدأ, اشترك, ጀምር, शुरू, শুরু, เริ่ม
    开始, 開始, 订阅, 시작
"""
COURTESIES = """
    please, pls, plz, kindly, thanks, thank you, thank, you, thx, ty, cheers, hi, hello, hey, dear, sir, madam, now, ok
    today, immediately, asap, merci, svp, stp, sil vous plait, sil te plait, bonjour, gracias, por favor, ya, hola
    obrigado, obrigada, bitte, danke, sofort, hallo, per favore, grazie, asante, tafadhali, ahsante
    dank je, alstublieft
    пожалуйста, спасибо, شكرا, من فضلك, धन्यवाद, कृपया, dhanyavad, tesekkurler, lutfen, terima kasih, tolong, regards
"""
WHAT_IT_IS_ABOUT = """
    all, sub, subs, subscription, sms, msg, msgs, message, messages, text, texts, texting, messaging, sending, service
    notifications, notification, alerts, promotions, promos, promotional, marketing, ads, advertising, spam, updates
    this, these, those, the, your, any, more, it, me, us, from, to, everything, immediately, list, my, number, promo
    pub, publicite, messages publicitaires, mensajes, mensajes, mensagens, nachrichten, werbung, newsletter, ujumbe
    рассылку, рассылка, сообщения, смс
"""
REQUESTS = """
    stop texting, stop messaging, stop sending, stop contacting, stop spamming, stop bothering, stop the messages
    do not text, dont text, do not message, dont message, do not contact, dont contact, do not sms, dont sms
    do not send me any, dont send me any, do not send me more, dont send me more, do not send me messages
    dont send me messages, dont send me texts, do not send me texts, never text me, never contact me, quit texting
    unsubscribe me, unsubscribe from, unsubscribe my, please unsubscribe, remove me, remove my number, delete my number
    take me off, take my number off, opt me out, opt out of, i opt out, i want to opt out, i want to unsubscribe
    i want to stop, i would like to unsubscribe, i wish to unsubscribe, no more messages, no more texts, no more sms
    no more text, no more msgs, leave me alone, lose my number, cancel my subscription, cancel subscription
    end my subscription, i revoke, i revoke my consent
    arretez de menvoyer, arretez de mecrire, arrete de menvoyer, ne menvoyez plus, ne mecrivez plus, plus de sms
    plus de messages, desabonnez moi, desinscrivez moi, je ne veux plus, retirez moi, supprimez mon numero, stop aux sms
    no me envien mas, no me envies mas, no me manden mas, no me mandes mas, no me escriban mas, no quiero mas mensajes
    no quiero recibir, dejen de enviar, deja de enviar, dejen de mandar, quiero darme de baja, darme de baja
    darse de baja, dar de baja, denme de baja, basta de mensajes
    parem de enviar, pare de enviar, parem de mandar, pare de mandar, nao quero mais, nao quero receber
    nao me envie, nao me envies, nao me mande, me tire da lista, me remova, remova meu numero, descadastrar
    keine sms mehr, keine nachrichten mehr, keine werbung, ich mochte keine, ich will keine, nicht mehr schreiben
    schicken sie mir keine, senden sie mir keine, loschen sie meine nummer, loschen sie mich, melden sie mich ab
    ich mochte mich abmelden, streichen sie mich
    acha kunitumia, acheni kunitumia, acha kutuma, acheni kutuma, sitaki sms, sitaki ujumbe, sitaki meseji
    sitaki jumbe, niondoe, niondoeni, usinitumie, msinitumie
    не присылайте, не пишите, не отправляйте, не шлите, больше не присылайте, больше не пишите, отпишите
    удалите меня, удалите мой номер, я хочу отписаться
    لا ترسل, لا ترسلوا, توقف عن, توقفوا عن, لا اريد رسائل, الغاء الاشتراك, الغ الاشتراك
    smettete di, non mandatemi piu, non inviatemi piu, cancellatemi, toglietemi
    mesaj atmayin, mesaj gondermeyin, मैसेज बंद, मेसेज बंद, मत भेजो, मत भेजिए
"""
"""How a request begins that can mean nothing else."""
GOES_ELSEWHERE = """
    by, at, in, on, over, off, and, when, if, for, order, motion, watch, light, sign, worrying, of, smoking, being, here
"""
"""What follows a word to stop where nothing is to be stopped: "stop by at 5", "end of the month"."""
NEGATIONS = """
    dont, do not, never, wont, cant, cannot, didnt, not, non, no, bus, full, the, a, to, nonstop, ne, nicht, nie, nunca
    jamais, usiache, не
"""
"""What precedes it there: "don't stop", "the bus stop"."""
MAX_LENGTH = 60
"""A line of more characters is no certain opt-out, unless it begins as a request does."""
MAX_READ = 400
"""Characters of a text that are read."""
MAX_WORDS_OF_POSSIBLE = 12

_LINES = re.compile(r"[\r\n\u2028\u2029]+")
_SIGNATURE = re.compile(
    r"\s*(?:--|__|\u2014|[-_*]{2,}|sent from|sent via|get outlook|envoye de|gesendet von|von meinem|enviado d"
    r"|inviato da|verzonden|regards|kind regards|best|thanks|thank you|cheers|отправлено)",
    re.IGNORECASE,
)
_APOSTROPHES = re.compile(r"['\u2018\u2019\u02bc`\u00b4]")
_NOT_A_WORD = re.compile(r"[\W_]+")


def keyword_of(text: str, sent_to: str = "") -> Keyword | None:
    """What the text asks for; None for any other text. `sent_to` is the sender ID that it was sent to."""
    lines = [line for line in _LINES.split(_visible(text[:MAX_READ])) if line.strip()]
    if not lines:
        return None
    found = _of_line(lines[0], _normalize(sent_to).split())
    if found is Keyword.STOP and len(lines) > 1 and not _is_signed(text[:MAX_READ], lines):
        return Keyword.POSSIBLE_STOP
    return None if found is Keyword.START and len(lines) > 1 else found


def possible_stop(text: str) -> bool:
    """Whether a text of which parts are missing may be an opt-out."""
    return keyword_of(text) in (Keyword.STOP, Keyword.POSSIBLE_STOP)


def _of_line(line: str, own: list[str]) -> Keyword | None:
    normalized = _normalize(line)
    if normalized in _STARTS:
        return Keyword.START
    words = _without_courtesies(normalized.split())
    if not words:
        return None
    request = " ".join(words)
    if any(request == each or request.startswith(f"{each} ") for each in _REQUESTS):
        return Keyword.STOP
    keyword, rest = _leading_keyword(words)
    if keyword is None:
        return Keyword.POSSIBLE_STOP if _ends_with_stop(words) else None
    if len(line.strip()) <= MAX_LENGTH and _is_about_messages(keyword, rest, own):
        return Keyword.STOP
    if len(words) > MAX_WORDS_OF_POSSIBLE or (rest and rest[0] in _GOES_ELSEWHERE):
        return None
    return Keyword.POSSIBLE_STOP if keyword in _PLAIN or len(rest) == 1 else None


def _leading_keyword(words: list[str]) -> tuple[str | None, list[str]]:
    """The longest word for opting out with which the words begin, and those after it."""
    for count in range(min(_LONGEST, len(words)), 0, -1):
        keyword = " ".join(words[:count])
        if keyword in _PLAIN or keyword in _AMBIGUOUS:
            return keyword, words[count:]
    return None, words


def _is_about_messages(keyword: str, rest: list[str], own: list[str]) -> bool:
    """Whether the words after one for opting out are courtesies, or name the messages or their sender."""
    if keyword in _AMBIGUOUS and not set(rest) & _MESSAGES:
        return not set(rest) - _COURTESIES
    return not set(rest) - _COURTESIES - _ABOUT - _PLAIN - {*own}


def _ends_with_stop(words: list[str]) -> bool:
    """Whether a short text ends with a word for opting out that nothing negates, such as "I said STOP"."""
    before = words[:-1]
    return words[-1] in _PLAIN and len(words) <= MAX_WORDS_OF_POSSIBLE // 2 and not set(before) & _NEGATIONS


def _without_courtesies(words: list[str]) -> list[str]:
    """The words without courtesies at the beginning; those at the end are left to be told from other words."""
    start = 0
    while start < len(words) - 1 and words[start] in _COURTESIES:
        start += 1
    return words[start:]


def _is_signed(text: str, lines: list[str]) -> bool:
    """Whether what is below the first line is a signature: after an empty line, or as signatures begin."""
    below = _visible(text).strip()[len(lines[0].strip()) :]
    return bool(re.match(r"[^\S\r\n]*\r?\n[^\S\n]*\n", below)) or _SIGNATURE.match(_plain(lines[1])) is not None


def _visible(text: str) -> str:
    """The text in its compatibility form, without characters that nobody sees, such as zero-width spaces."""
    return "".join(
        char
        for char in unicodedata.normalize("NFKC", text)
        if unicodedata.category(char) != "Cf" and not "\ufe00" <= char <= "\ufe0f"
    )


def _plain(text: str) -> str:
    """Without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).replace("ı", "i")


@lru_cache(maxsize=1_000)
def _normalize(text: str) -> str:
    """The words of a text in their plain form, with single spaces between them."""
    return _NOT_A_WORD.sub(" ", _APOSTROPHES.sub("", _plain(_visible(text)))).strip()


def _phrases(*lists: str) -> frozenset[str]:
    lines: Iterable[str] = (line for each in lists for line in each.strip().splitlines())
    return frozenset(_normalize(phrase) for line in lines for phrase in line.split(",") if phrase.strip())


def _words(*lists: str) -> frozenset[str]:
    return frozenset(word for phrase in _phrases(*lists) for word in phrase.split())


_PLAIN, _AMBIGUOUS, _STARTS = _phrases(PLAIN_STOP_WORDS), _phrases(AMBIGUOUS_STOP_WORDS), _phrases(START_WORDS)
_LONGEST = max(len(phrase.split()) for phrase in _PLAIN | _AMBIGUOUS)
_COURTESIES, _ABOUT, _REQUESTS = _words(COURTESIES), _words(WHAT_IT_IS_ABOUT), _phrases(REQUESTS)
_MESSAGES = _ABOUT - _words(
    "this, these, those, the, your, any, more, it, me, us, from, to, everything, my, all, number"
)
_GOES_ELSEWHERE, _NEGATIONS = _words(GOES_ELSEWHERE), _words(NEGATIONS)
