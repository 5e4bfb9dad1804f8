"""Keywords by which recipients opt out and back in.

A message is a keyword if it is one of these words and nothing else, regardless of case, accents, and punctuation or
spaces around it: "Stop!" is one, "don't stop" is not. So a sentence never opts anybody out.
"""

import re
import unicodedata
from enum import StrEnum


class Keyword(StrEnum):
    """The request in a keyword."""

    STOP = "stop"
    START = "start"


STOP_WORDS = """
    STOP, STOPP, STOP ALL, STOPALL, UNSUBSCRIBE, OPT OUT, OPTOUT, CANCEL, END, QUIT, REVOKE, REMOVE ME
    ARRET, ARRETER, DESABONNER, PARAR, PARE, ALTO, BAJA, CANCELAR, SAIR, FERMA, CANCELLA, DISISCRIVI, DEZABONARE
    HALT, ABMELDEN, ABBESTELLEN, AFMELDEN, AVSLUTA, AVREGISTRERA, AFMELD, LOPETA, REZYGNUJE, ZATRZYMAJ, ODHLASIT
    ACHA, SIMAMA, KOMESHA, SITISHA, JIONDOE, YIMA, TSAYA, JOOJI
    DUR, IPTAL, RET, BERHENTI, HUY
    СТОП, ОТПИСАТЬСЯ, ОТПИСКА, ВІДПИСАТИСЯ, ΣΤΟΠ, ΔΙΑΓΡΑΦΗ, הסר, הסרה, עצור, إيقاف, توقف, قف, إلغاء, لغو
    አቁም, रोकें, रोको, बंद, বন্ধ, நிறுத்து, ఆపు, หยุด, ยกเลิก, 停止, 退订, 退訂, 配信停止, 수신거부, 중지
"""
START_WORDS = """
    START, UNSTOP, RESUME, SUBSCRIBE, OPT IN, OPTIN
    COMMENCER, REPRENDRE, INICIAR, REANUDAR, ALTA, COMECAR, INIZIA, STARTEN, ANMELDEN, AANMELDEN, STARTA, WZNOW
    ANZA, ENDELEA, BASLA, BASLAT, MULAI, СТАРТ, ПОДПИСАТЬСЯ, ΕΝΑΡΞΗ, התחל, ابدأ, اشترك, ጀምር, शुरू, শুরু, เริ่ม
    开始, 開始, 订阅, 시작
"""
MAX_LENGTH = 60
"""Longer messages, in characters, are never keywords."""

_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_BETWEEN = re.compile(r"[\s\-_]+")


def keyword_of(text: str) -> Keyword | None:
    """The keyword that the message consists of; None for any other message."""
    return _KEYWORDS.get(_normalize(text)) if len(text) <= MAX_LENGTH else None


def _normalize(text: str) -> str:
    """Normalize: no case, accents, or surrounding punctuation."""
    letters = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return _BETWEEN.sub(" ", _AROUND.sub("", letters)).replace("ı", "i")


def _words(word_list: str) -> list[str]:
    return [_normalize(word) for line in word_list.strip().splitlines() for word in line.split(",")]


_KEYWORDS = dict.fromkeys(_words(STOP_WORDS), Keyword.STOP) | dict.fromkeys(_words(START_WORDS), Keyword.START)
