"""The documents and folders that a conversation is answered from, as the browser names them."""

# What is chosen at once, and how long a name is taken: both come from the browser.
MOST, CHARACTERS = 20, 1_000


def names_of(values: object) -> tuple[str, ...]:
    """The names of documents and folders in what was sent or stored, whatever that is."""
    names = [value for value in values if isinstance(value, str)] if isinstance(values, list | tuple) else []
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= CHARACTERS))[:MOST]
