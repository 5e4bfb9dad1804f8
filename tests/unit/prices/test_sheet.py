"""A sheet of prices, as operators write them; and the mistakes in it, each with its line."""

import pytest

from shared.prices.sheet import MAX_PRICE, NotASheet, SheetError, SheetRow, prefixes_of, read_sheet

ROWS = [SheetRow(2, "", "254", 12), SheetRow(3, "authentication", "25470", 15), SheetRow(4, "", "33", 40)]


@pytest.mark.parametrize(
    "text",
    [
        "prefix,category,price\n254,,12\n+25470,Authentication,15\nFR,any,40\n",
        "price;Country;category\r\n12;KE;*\r\n15;25470;authentication\r\n40;fr;\r\n",
        "prefix\tprice\tcategory\tnote\n254\t12\n25470\t15\tauthentication\t\n33\t40\n",
    ],
)
def test_it_works(text: str) -> None:
    assert list(read_sheet([text])) == ROWS


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("254,,-1", "invalid_price"),
        ("254,,1.5", "invalid_price"),
        ("254,,", "invalid_price"),
        ("254,,free", "invalid_price"),
        (f"254,,{MAX_PRICE + 1}", "invalid_price"),
        (f"254,,{'9' * 5_000}", "invalid_price"),
        ("XX,,1", "unknown_destination"),
        ("0254,,1", "unknown_destination"),
        ("2541234567890123,,1", "unknown_destination"),
        ("JE,,1", "unknown_destination"),
        ("254,spam,1", "unknown_category"),
    ],
)
def test_a_mistake_names_its_line(line: str, code: str) -> None:
    (error,) = [
        each for each in read_sheet([f"prefix,category,price\n1,,1\n\n{line}\n"]) if isinstance(each, SheetError)
    ]
    assert (error.line, error.code) == (4, code)


@pytest.mark.parametrize("text", ["", "254,12\n", "prefix,cost\n254,12\n", "name,price\nx,1\n"])
def test_a_file_without_the_columns_is_refused(text: str) -> None:
    with pytest.raises(NotASheet, match="`prefix`"):
        list(read_sheet([text]))


def test_a_country_has_the_prefixes_that_only_it_has() -> None:
    assert prefixes_of("KE") == ("254",)
    assert prefixes_of("GB") == ("44",)
    assert prefixes_of("KZ") == ("76", "77") or all(prefix[:2] in ("76", "77") for prefix in prefixes_of("KZ"))
    assert "1876" in prefixes_of("JM") and "1202" in prefixes_of("US") and "1876" not in prefixes_of("US")
    assert prefixes_of("*") == ("",)
