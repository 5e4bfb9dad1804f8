"""Numbers with nouns in English."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 credit`, `2,000 credits`; `plural` is for irregular nouns and for verbs: `1 batch waits`, `2 batches wait`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"
