"""Everything that ever crosses from one party to the other, in one list.

A privacy officer can read in these seven files what a run may send: there is no other kind. Each docstring says what
the receiver learns from it (semi-honest model, DESIGN 7.5).

* `meeting`: who we are, what we want and hold, and where the two differ
* `memory`: what is remembered of runs, ended or going on
* `people`: how those whom both list are found
* `counting`: counts, and what exact ones are made from
* `learning`: what is estimated and mined, and that both have one model
* `predicting`: rows classified together
* `oblivious`: what oblivious transfer is made of

With a message goes how far the sender's ledger about the receiver leads, as in `MemoryHeads`, where it has grown since
this was last shown. The receiver, who knows which facts were told, learns nothing but that they are on record.
"""

from protocols.messages.counting import (
    CiphertextPage,
    ClassCounts,
    CountShares,
    DisguisedPage,
    ExactCounts,
    HolderKey,
    PackedCounts,
    SetCounts,
)
from protocols.messages.learning import (
    ModelDigest,
    SentTree,
)
from protocols.messages.meeting import (
    Greeting,
    HiddenContents,
    JointDigests,
    Share,
    SharedColumn,
    TableCommitment,
    Verdict,
)
from protocols.messages.memory import KeptParts, LostAnswers, MemoryHeads, SignedHead
from protocols.messages.oblivious import (
    BaseOffer,
    BasePoints,
    ChoicePage,
    CodePage,
    CorrectionPage,
    HintPage,
    MaskedPage,
    OpenedPage,
    SeedHints,
)
from protocols.messages.people import CommonRows, IdList, PeopleOffer, ValuesPage
from protocols.messages.predicting import RowsAsked, RowShares, RowsShare

__all__ = [
    "BaseOffer",
    "BasePoints",
    "ChoicePage",
    "CiphertextPage",
    "ClassCounts",
    "CodePage",
    "CommonRows",
    "CorrectionPage",
    "CountShares",
    "DisguisedPage",
    "ExactCounts",
    "Greeting",
    "HiddenContents",
    "HintPage",
    "HolderKey",
    "IdList",
    "JointDigests",
    "KeptParts",
    "LostAnswers",
    "MaskedPage",
    "MemoryHeads",
    "ModelDigest",
    "OpenedPage",
    "PackedCounts",
    "PeopleOffer",
    "RowShares",
    "RowsAsked",
    "RowsShare",
    "SeedHints",
    "SentTree",
    "SetCounts",
    "Share",
    "SharedColumn",
    "SignedHead",
    "TableCommitment",
    "ValuesPage",
    "Verdict",
]
