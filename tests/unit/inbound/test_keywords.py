"""What opts a phone out or in, and what does not."""

import pytest

from shared.inbound import Keyword, keyword_of


@pytest.mark.parametrize(
    "text",
    [
        *("STOP", "stop", " Stop. ", "STOP!", "'stop'", "\nStop\n", "STOP ALL", "stop-all", "StopAll", "UNSUBSCRIBE"),
        *("ARRET", "Arrêt", "arrêter", "PARAR", "HALT", "ACHA", "acha!", "SAIR", "Abmelden", "İPTAL", "ıptal", "BAJA"),
        *("стоп", "СТОП.", "στοπ", "إيقاف", "停止", "停止。", "수신거부", "रोकें", "ＳＴＯＰ", "STOP 🙏", "«стоп»"),
        "STOP" + "!" * 56,
    ],
)
def test_a_word_that_opts_out(text: str) -> None:
    assert keyword_of(text) is Keyword.STOP


@pytest.mark.parametrize("text", ["START", "start!", "Unstop", "COMEÇAR", "anza", "СТАРТ", "ابدأ", "开始"])
def test_a_word_that_opts_in(text: str) -> None:
    assert keyword_of(text) is Keyword.START


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "!", "don't stop", "STOP it", "please stop", "nonstop", "stops", "ST OP", "STOP STOP", "yes", "no"),
        *("The end", "0", "STOP" * 1000, "halt mich auf dem Laufenden", "s\u0000top", "🙏"),
        "STOP" + "!" * 57,
    ],
)
def test_a_text_that_is_not_a_keyword(text: str) -> None:
    assert keyword_of(text) is None
