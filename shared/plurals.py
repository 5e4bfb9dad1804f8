"""Numbers with nouns in English."""


def counted(number: int, noun: str) -> str:
    """`1 credit`, `2,000 credits`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
