"""Numbers with what they count, as English writes them."""


def counted(number: int, thing: str) -> str:
    """`1 credit`, `2,000 credits`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
