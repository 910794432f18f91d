"""What to do next about arguments that a command does not take, in words."""

_EXTRA = "unrecognized arguments: "


def argument_advice(message: str, *, in_party_folder: bool) -> str:
    """Return what follows the message of the parser: on a party that was not named where one is, or a word too many."""
    if in_party_folder and "are required: " in message:
        return "; the party here is . (a dot)"
    if message.startswith(_EXTRA) and not message.startswith(f"{_EXTRA}-"):
        return "; to save printed output, use > FILE"
    return ""
