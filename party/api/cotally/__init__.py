"""cotally for Python programs: two organisations learn from columns that neither shows the other, and surveys.

    party = cotally.Party(Path("alice"))                    one side of real runs, as `cotally serve` and `train`
    cotally.TwoPartyID3Classifier().fit(X, y)               both sides in this process, to try out what a run would
                                                            give; also TwoPartyNaiveBayes
    cotally.joint_rules("model.json")                       what a run for rules has found; also joint_itemsets
    cotally.load_model("model.json").predict(table)         a finished model, of two parties or of a survey
    cotally.RandomizedID3Classifier(design).fit(X, y)       a survey's disguised answers; also RandomizedNaiveBayes
    cotally.read_design("design.toml")                      how a survey's answers are disguised
    cotally.disguise_table(answers, design, "secret.json")  the respondents' side of it

What follows scikit-learn's manners needs the extra `learn`. Errors are `cotally.CotallyError` and what derives from it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from party.association.mining import joint_itemsets, joint_rules
from party.programs.party import Listening, LoadedModel, Party, PartyRun, load_model
from party.settings.survey import read_design
from party.survey.disguise import disguise_table
from protocols.errors import CotallyError, InputError, PeerError

if TYPE_CHECKING:
    from party.learn.classifiers import RandomizedID3Classifier, RandomizedNaiveBayes
    from party.learn.two_party import TwoPartyID3Classifier, TwoPartyNaiveBayes

__all__ = [
    "CotallyError",
    "InputError",
    "Listening",
    "LoadedModel",
    "Party",
    "PartyRun",
    "PeerError",
    "RandomizedID3Classifier",
    "RandomizedNaiveBayes",
    "TwoPartyID3Classifier",
    "TwoPartyNaiveBayes",
    "disguise_table",
    "joint_itemsets",
    "joint_rules",
    "load_model",
    "read_design",
]

_LEARNERS = {
    "RandomizedID3Classifier": "party.learn.classifiers",
    "RandomizedNaiveBayes": "party.learn.classifiers",
    "TwoPartyID3Classifier": "party.learn.two_party",
    "TwoPartyNaiveBayes": "party.learn.two_party",
}


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn when it is asked for."""
    if name not in _LEARNERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LEARNERS[name]), name)


def __dir__() -> list[str]:
    """Return what is public."""
    return __all__
