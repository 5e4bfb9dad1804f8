"""Tables on a laptop: sender IDs and phone numbers stay on one line, and messages can be read."""

import pytest

from tests.browser.conftest import Stand

pytestmark = pytest.mark.slow
LAPTOP = {"width": 1280, "height": 800}
BROKEN = """
    (place) => [...document.querySelectorAll(`tbody td:nth-child(${place})`)].filter((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return text.getBoundingClientRect().height > 1.5 * parseFloat(getComputedStyle(cell).lineHeight);
    }).map((cell) => cell.innerText)
"""
"""Texts of a column that take several lines."""


@pytest.mark.parametrize(("page_name", "places"), [("/sends/", [2]), ("/messages/", [1, 2])])
def test_it_works(stand: Stand, page_name: str, places: list[int]) -> None:
    context = stand.context(viewport=LAPTOP, locale="de-DE")
    page = context.new_page()
    page.goto(stand.account + page_name)
    assert page.locator("tbody tr").count() > 1
    assert [page.evaluate(BROKEN, place) for place in places] == [[] for _ in places]
    assert page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]
    context.close()


def test_a_message_is_not_cut_to_a_few_words(stand: Stand) -> None:
    context = stand.context(viewport=LAPTOP)
    page = context.new_page()
    page.goto(stand.account + "/sends/")
    texts = page.locator("tbody a.text")
    assert texts.count() > 1
    cut = [each for each in texts.all() if each.evaluate("text => text.scrollHeight > text.clientHeight + 1")]
    assert [each.inner_text() for each in cut if len(each.inner_text()) < 90] == []
    context.close()
