"""The ledger for programs: what they learned from us, and we from them, in numbers; `export` has every entry."""

from collections import Counter
from collections.abc import Iterable

from party.records.ledger import PeerName
from party.records.tally import Dealings, Side
from protocols.two_party.memory import LedgerHead


def dealings_json(told: Iterable[Dealings]) -> dict[str, object]:
    """Return what passed between us and each peer about each data set; one of `dealings_lines` each."""
    return {"format": "cotally-dealings/1", "dealings": list(map(_dealing, told))}


def _dealing(told: Dealings) -> dict[str, object]:
    return {
        "dataset": told.dataset,
        "peer": told.peer.name,
        "fingerprint": told.peer.fingerprint,
        "runs": list(told.runs),
        "first": told.first,
        "last": told.last,
        "alignments": list(told.alignments.values()),
        "named": list(told.named),
        "comparisons_refused": told.refused,
        "epsilons": list(map(str, told.epsilons)),
        "told": _side(told.told),
        "learned": _side(told.learned),
        "told_with_noise": _side(told.told_noisy),
        "learned_with_noise": _side(told.learned_noisy),
    }


def _side(side: Side) -> dict[str, object]:
    return {
        "copies": list(side.copies),
        "class_counts": side.class_counts,
        "windows": len(side.windows),
        "opened": dict(Counter(what for what, *_ in side.opened)),
        "tables": len(side.tables),
        "counts": sum(side.tables.values()),
        "itemsets": len(side.itemsets),
        "mined_trees": side.mined,
        "accuracies": len(side.accuracies),
        "models": list(side.models),
        "rows_classified": sum(map(len, side.answers.values())),
    }


def whole_json(entries: int, heads: Iterable[tuple[PeerName, LedgerHead, LedgerHead]]) -> dict[str, object]:
    """Return for programs that a ledger was found whole, and how far each peer and we know it of the other."""
    return {
        "format": "cotally-ledger-check/1",
        "entries": entries,
        "peers": [
            {"peer": peer.name, "fingerprint": peer.fingerprint, "theirs": _head(theirs), "here": _head(own)}
            for peer, theirs, own in heads
        ],
    }


def _head(head: LedgerHead) -> dict[str, object]:
    return {"entries": head.entries, "digest": head.digest.hex()}
