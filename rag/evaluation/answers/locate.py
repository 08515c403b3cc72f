"""Locates a quote in a text."""


def locate(context: str, quote: str) -> list[tuple[int, int]]:
    """Every occurrence of a quote in the context, as `context[start:end]`; white space is ignored."""
    places = [place for place, character in enumerate(context) if not character.isspace()]
    bare, wanted = "".join(context[place] for place in places), "".join(quote.split())
    result = []
    start = bare.find(wanted) if wanted else -1
    while start >= 0:
        result.append((places[start], places[start + len(wanted) - 1] + 1))
        start = bare.find(wanted, start + 1)
    return result
