"""Words by which a phone's owner opts out, and back in.

A message is a STOP when it is one of these words and nothing else, whatever its case, accents, and the signs and
spaces around it: "Stop!" is one, "don't stop" is none. So nobody is opted out by a sentence, and whoever writes a word
as it is printed under a message is.
"""

import re
import unicodedata
from enum import StrEnum


class Keyword(StrEnum):
    """What a message of one word asks for."""

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
LONGEST = 60
"""Characters of a message that could still be such a word."""

_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_BETWEEN = re.compile(r"[\s\-_]+")


def keyword_of(text: str) -> Keyword | None:
    """What the message asks for, when it is one of the words and nothing else."""
    return _WORDS.get(_plain(text)) if len(text) <= LONGEST else None


def _plain(text: str) -> str:
    """The text without case, accents, and what stands around it."""
    bare = "".join(mark for mark in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(mark))
    return _BETWEEN.sub(" ", _AROUND.sub("", bare)).replace("ı", "i")


def _listed(listed: str) -> list[str]:
    return [_plain(word) for line in listed.strip().splitlines() for word in line.split(",")]


_WORDS = dict.fromkeys(_listed(STOP_WORDS), Keyword.STOP) | dict.fromkeys(_listed(START_WORDS), Keyword.START)
