"""The documents and folders that a conversation is answered from, as the browser names them."""

# The most names at once, and the most characters of a name: both come from the browser.
MOST, CHARACTERS = 20, 1_000


def names_of(values: object) -> tuple[str, ...]:
    """The valid names of documents and folders among values that were sent or stored, whatever those are."""
    names = [value for value in values if isinstance(value, str)] if isinstance(values, list | tuple) else []
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= CHARACTERS))[:MOST]
