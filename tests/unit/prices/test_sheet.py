"""A sheet of prices, as operators write them; and the mistakes in it, each with its line."""

import pytest

from shared.prices import sheet
from shared.prices.sheet import MAX_PRICE, BadSheet, SheetError, SheetRow, prefixes_of, read_sheet
from shared.unit import CREDITS, Unit

ROWS = [SheetRow(2, "", "254", 12), SheetRow(3, "authentication", "25470", 15), SheetRow(4, "", "33", 40)]


@pytest.mark.parametrize(
    "text",
    [
        "prefix,category,price\n254,,12\n+25470,Authentication,15\nFR,any,40\n",
        "price;Country;category\r\n12;KE;*\r\n15;25470;authentication\r\n40;fr;\r\n",
        "prefix\tprice\tcategory\n254\t12\n25470\t15\tauthentication\n33\t40\n",
    ],
)
def test_it_works(text: str) -> None:
    assert list(read_sheet([text], CREDITS)) == ROWS


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("254,,-1", "'-1' is no price"),
        ("254,,1.5", "'1.5' is no price"),
        ("254,,", "'' is no price"),
        ("254,,free", "'free' is no price"),
        (f"254,,{MAX_PRICE + 1}", "is no price"),
        (f"254,,{'9' * 5_000}", "is no price"),
        ("XX,,1", "'XX' is neither"),
        (",,1", "'' is neither"),
        ("0254,,1", "is neither"),
        ("2541234567890123,,1", "is neither"),
        ("JE,,1", "is neither"),
        ("254,spam,1", "'spam' is no category"),
        ("254,,0,0120", "4 cells for 3 columns"),
        ('"254,,1', "quote"),
    ],
)
def test_a_mistake_names_its_line(line: str, problem: str) -> None:
    found = list(read_sheet([f"prefix,category,price\n1,,1\n\n{line}\n2,,2\n"], CREDITS))
    (error,) = [each for each in found if isinstance(each, SheetError)]
    assert (error.line, problem in error.detail) == (4, True), error
    assert found[-1] == SheetRow(5, "", "2", 2)


@pytest.mark.parametrize("text", ["", "254,12\n", "prefix,cost\n254,12\n", "name,price\nx,1\n"])
def test_a_file_without_the_columns_is_refused(text: str) -> None:
    with pytest.raises(BadSheet, match="`prefix`"):
        list(read_sheet([text], CREDITS))


@pytest.mark.parametrize("names", ["prefix,cat,price", "prefix,price,amount"])
def test_a_column_that_is_unknown_or_contradicts_another_is_refused(names: str) -> None:
    with pytest.raises(BadSheet, match="The columns are"):
        list(read_sheet([f"{names}\n254,1,2\n"], Unit("EUR", 4)))


def test_a_sheet_has_a_maximum_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet, "MAX_LINES", 3)
    assert len(list(read_sheet(["prefix,price\n1,1\n2,2\n"], CREDITS))) == 2
    with pytest.raises(BadSheet, match="Line 4: A sheet has at most"):
        list(read_sheet(["prefix,price\n1,1\n2,2\n3,3\n"], CREDITS))


def test_amounts_are_converted_exactly() -> None:
    text = "prefix;amount\n254;0.0120\n255;1\n256;0.00125\n257;0,5\n"
    assert [each[-1] for each in read_sheet([text], Unit("EUR", 4))][:2] == [120, 10_000]
    assert [each.line for each in read_sheet([text], Unit("EUR", 4)) if isinstance(each, SheetError)] == [4, 5]
    with pytest.raises(BadSheet, match="UNIT"):
        list(read_sheet([text], CREDITS))


def test_a_country_has_the_prefixes_that_only_it_has() -> None:
    assert prefixes_of("KE") == ("254",)
    assert prefixes_of("GB") == ("44",)
    assert prefixes_of("KZ") == ("76", "77") or all(prefix[:2] in ("76", "77") for prefix in prefixes_of("KZ"))
    assert "1876" in prefixes_of("JM") and "1202" in prefixes_of("US") and "1876" not in prefixes_of("US")
    assert prefixes_of("*") == ("",)
