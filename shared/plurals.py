"""Numbers with their nouns in singular or plural."""


def counted(number: int, thing: str) -> str:
    """`1 credit`, `2,000 credits`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
