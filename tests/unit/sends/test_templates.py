"""Placeholders in messages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.sends.templates import Composed, ComposeProblem, Template, compose, escaped, parse
from shared.sms.segments import segment, split, text_problem


def rendered(message: str, **variables: str) -> str:
    template = parse(message)
    return message if template is None else template.render(variables)


def test_it_works() -> None:
    assert rendered("Hi {{name}}, {{ city |at home}}!", name="Ann") == "Hi Ann, at home!"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("{{name|friend}}", "friend"),
        ("{{empty|friend}}", "friend"),
        ("{{empty}}.", "."),
        ("{{a}}{{a}}{{b}}", "112"),
        ("{{a|}}{{none|}}", "1"),
        ("{{none| x }}", " x "),
        ("{{{{a}}}}", "{{a}}"),
        ("{{{{a|b}}}} {{a}}", "{{a|b}} 1"),
        ("{{{{ a }}}}", "{{ a }}"),
        ("{{{a}}}", "{1}"),
        ("{{braces}}", "{{a}}"),
    ],
)
def test_a_message_is_rendered(message: str, text: str) -> None:
    assert rendered(message, a="1", b="2", empty="", braces="{{a}}") == text


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Hi",
        "{name}",
        "{{",
        "}}",
        "{{}}",
        "{{ }}",
        "{{7*7}}",
        "{{a b}}",
        "{{1a}}",
        "{{a\n}}",
        "{{" + "a" * 33 + "}}",
    ],
)
def test_text_that_is_not_a_placeholder_stays_text(message: str) -> None:
    assert parse(message) is None


def test_reasons_why_a_recipient_gets_no_message() -> None:
    template = parse("{{a}}{{b|x}}{{c}}")
    assert isinstance(template, Template)
    assert template.names == ["a", "b", "c"]
    assert template.missing({"a": "1"}) == "c"
    with pytest.raises(KeyError):
        template.render({"a": "1"})

    def code(*, on_unicode: str = "send", most: int | None = None, **variables: str) -> str:
        made = compose(template, variables, on_unicode, most)
        return made.code if isinstance(made, ComposeProblem) else made.text

    assert code(a="1", c="3") == "1x3"
    assert code(a="1") == "missing_variable"
    assert code(a=" ", b=" ", c="\t") == "message_empty"
    assert code(a="1" * 1600, c="") == "message_too_long"
    assert code(a="\x07", c="") == "invalid_characters"
    assert code(a="ő", c="", on_unicode="reject") == "unicode_rejected"
    assert code(a="ő", c="", on_unicode="transliterate") == "ox"
    assert code(a="1" * 161, c="", most=1) == "too_many_segments"


values = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=80)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.text("ab €ő{}|", max_size=30), values), max_size=4), st.sampled_from(["send", "reject"]))
def test_a_message_is_priced_as_it_is_sent(chunks: list[tuple[str, str]], on_unicode: str) -> None:
    message = "".join(f"{literal}{{{{v{place}}}}}" for place, (literal, _) in enumerate(chunks)) + "{{end|.}}"
    variables = {f"v{place}": value for place, (_, value) in enumerate(chunks)}
    template = parse(message)
    assert template is not None
    literals = set(template.names) - variables.keys() - {"end"}  # some may be placeholders too
    variables |= dict.fromkeys(literals, "x")
    made = compose(template, variables, on_unicode, None)
    if isinstance(made, Composed):
        assert made.segmentation == segment(made.text)
        assert len(split(made.text)) == made.segmentation.count
        assert made.text == template.render(variables)
    else:
        text = template.render(variables)
        assert text_problem(text) is not None or (on_unicode == "reject" and segment(text).encoding == "ucs2")


@settings(max_examples=200)
@given(st.text("{}|a ", max_size=40))
def test_escaping_twice_over_gives_the_text_again(message: str) -> None:
    template = parse(message)
    if template is None or template.placeholders:
        return
    assert len(template.render({})) < len(message)


@given(
    st.lists(st.sampled_from(["{", "{{", "}}", "}", "a", "|", " ", "{{a}}", "{{{{a|b}}}}"]), max_size=12).map("".join)
)
def test_an_escaped_text_is_the_text(text: str) -> None:
    assert rendered(escaped(text)) == text
