"""What a party agrees to: by its settings, by its data, and by what it has released before."""

from fractions import Fraction

from party.errors import ConfigError
from party.keys.certificates import Peer
from party.names import odds_words
from party.records.releases import check_release, release_of
from party.settings.depth import depth_text
from party.settings.ids import AlignmentBounds
from party.settings.noise import noise_text
from party.settings.party import Acceptance, PartyConfig
from party.settings.toml import window_text
from protocols.errors import InputError
from protocols.jobs import Align, Job, Predict, PredictionTerms, Receiver, Train
from protocols.privacy.attack import Disclosure
from protocols.privacy.loss import shared_coins, too_strong
from protocols.randomized_response.moments import drowns, noise
from protocols.randomized_response.related_question import RelatedDesign
from protocols.terms import ALL, Reveal, Terms
from protocols.two_party.agreement import Objection, Policy, object_to_limits
from protocols.two_party.inputs import PartyInputs


def check_job(local: PartyInputs, config: PartyConfig, job: Job, peer: Peer | None = None) -> None:
    """Refuse, before the peer is called, a job that we ourselves cannot or must not run.

    Args:
        local: What we bring.
        config: Our settings.
        job: What to do.
        peer: Who will be called; a mere plan calls nobody.

    Raises:
        InputError: The class is not the one we hold, or stands for too few records somewhere, our key is smaller than
            asked for, theta does not suit our data or what we agree to, or the data set was released otherwise before.
    """
    match job:
        case Train(terms):
            _check_training(local, config, terms)
        case Align():
            pass
        case Predict(asked):
            if (flaw := _prediction_objection(config.agree, asked, initiates=True)) is not None:
                raise ConfigError(flaw.reason)
    who = None if peer is None else (peer.name, peer.fingerprint)
    check_release(config.folder, release_of(local, job, who))


def _check_training(whole: PartyInputs, config: PartyConfig, terms: Terms) -> None:
    local = whole.bringing(terms)
    label = local.class_attribute
    if label is not None and label.name != terms.class_name:
        raise ConfigError(f"the job asks for the class {terms.class_name!r}; our class column is {label.name!r}")
    bits = local.secrets.key.bits
    if terms.encrypts and bits < terms.key_bits:
        raise ConfigError(
            f"the key in {config.folder} has {bits} bits, the job asks for {terms.key_bits}: "
            f"lower key_bits, or make a new folder with a key of that length"
        )
    flaw = object_to_limits(local, terms)
    if flaw is not None:
        raise ConfigError(flaw.reason)
    refused = first_objection(config.agree, terms) or _bits_objection(local, config.agree, terms)
    if refused is not None:
        raise ConfigError(refused.reason)
    if terms.disguises:
        check_disguise(local, terms, config.agree.odds)


def check_disguise(local: PartyInputs, terms: Terms, most_odds: Fraction | None) -> None:
    """Refuse a theta under which our own copy would tell too much, or nothing above its noise (FAULTS B6).

    Args:
        local: Our data.
        terms: The run's.
        most_odds: The strongest odds to 1 that a disguised value may give; None for any.

    Raises:
        InputError: Theta is 1/2, or so close to it that the standard error of a count of all records passes half of
            them; or so far from it that a column has stronger odds than these; or columns share a coin and are read
            more often because of it.
    """
    check_design(local, local.design(terms.theta, class_is_shared=False), most_odds)


def check_design(
    local: PartyInputs, design: RelatedDesign, most_odds: Fraction | None, read: Disclosure | None = None
) -> None:
    """Refuse a disguise by the same rules.

    Args:
        local: What we bring.
        design: The disguise of our columns.
        most_odds: As for `check_disguise`.
        read: What the receiver reads of this copy, if that is known already.

    Raises:
        InputError: As for `check_disguise`.
    """
    if most_odds is not None:
        _check_odds(local, design, most_odds)
        _check_shared(local, design, read)
    for group in range(len(design.groups)):
        error = noise(design, group, len(local.records))
        if drowns(error, len(local.records)):
            raise InputError(
                f"theta = {design.theta} is too close to 1/2: with {len(local.records)} records "
                f"the standard error of a count would be {error:.0f} records"
            )


def _check_odds(local: PartyInputs, design: RelatedDesign, most: Fraction) -> None:
    found = too_strong(design, [attribute.name for attribute in local.table.attributes], most)
    if found is not None:
        name, odds = found
        raise InputError(
            f"theta = {design.theta} gives the values of column {name!r} odds of {odds_words(odds.truth, odds.other)}, "
            f"our [agree] odds allow {most} to 1 either way: take theta nearer 1/2"
        )


def _check_shared(local: PartyInputs, design: RelatedDesign, read: Disclosure | None) -> None:
    """Refuse columns that share a coin as soon as a receiver reads them more often than with a coin each."""
    if not shared_coins(design):
        return
    found = local.disclosed(design) if read is None else read
    if found is None:
        return
    for group in found.joined:
        names = [local.table.attributes[column].name for column in design.groups[group]]
        shared, apart = (100 * each.groups[group] / each.records for each in (found.copy, found.apart))
        raise InputError(
            f"columns {', '.join(map(repr, names))} share a coin: a receiver would read them in {shared:.1f}% of "
            f"records, with one coin per column in {apart:.1f}%; our [agree] odds refuse that: leave [disguise] "
            'groups out, or set odds = "any"'
        )


def make_policy(local: PartyInputs, config: PartyConfig, *remembered: Policy, initiates: bool = False) -> Policy:
    """Return what this party objects to: by its settings, its data, or what it has told before, and to whom."""

    def policy(job: Job) -> Objection | None:
        match job:
            case Train(terms):
                brought = local.bringing(terms)
                objection = (
                    first_objection(config.agree, terms)
                    or _bits_objection(brought, config.agree, terms)
                    or _disguise_objection(brought, terms, config.agree.odds)  # last: it attacks our copy
                )
            case Align():
                objection = _alignment_objection(config.agree.alignments)
            case Predict(asked):
                objection = _prediction_objection(config.agree, asked, initiates=initiates)
        return objection or next((flaw for judge in remembered if (flaw := judge(job)) is not None), None)

    return policy


def _alignment_objection(bounds: AlignmentBounds) -> Objection | None:
    return None if bounds.alignments else Objection("job", _NO_ALIGNMENT)


def first_objection(agree: Acceptance, terms: Terms) -> Objection | None:
    """Return the first term that this party does not agree to; the odds that it allows depend on its data too.

    Terms that the method does not use are not looked at.
    """
    every = f"{terms.method} (all attributes)"
    widest = agree.omega is ALL or (terms.window is not ALL and terms.window <= agree.omega)
    of_rules = terms.rules is not None
    shallow = terms.levels is not None and terms.levels <= (agree.max_depth or 0)
    fits = (
        ("method", terms.method, terms.method in agree.methods),
        ("omega", window_text(terms.omega) if terms.ranks else every, widest or not terms.counts_exactly or of_rules),
        ("counting", str(terms.counting), terms.counting in agree.counting or not terms.counts_exactly),
        ("key_bits", terms.key_bits, terms.key_bits >= agree.smallest_key_bits or not terms.encrypts),
        ("max_depth", depth_text(terms.levels), agree.max_depth is None or shallow),
        ("min_leaf", terms.min_leaf, terms.min_leaf >= agree.min_leaf or terms.noises_tree),
        ("noise", noise_text(terms.epsilon), _is_noisy_enough(agree, terms)),
    )
    cures = {"noise": f": {_noise_cure(agree)}"}
    asked = ((term, f"{term} = {value}", cures.get(term, "")) for term, value, fit in fits if not fit)
    unwelcome = next((_unwelcome(*each) for each in asked), None)
    return unwelcome or _unbounded_objection(agree, terms) or _exact_counts_objection(agree, terms)


def _unbounded_objection(agree: Acceptance, terms: Terms) -> Objection | None:
    """Object to noise that takes the place of other bounds of ours, if no epsilon of ours bounds it."""
    excuses = terms.noises_tree or not agree.exact_counts
    if terms.noise is None or agree.epsilon is not None or not excuses:
        return None
    return Objection("noise", f"the job asks for noise = {noise_text(terms.epsilon)}: {_NO_EPSILON}")


def _exact_counts_objection(agree: Acceptance, terms: Terms) -> Objection | None:
    shows_none = terms.reveal is Reveal.TREE or terms.noise is not None  # a tree mined without it is bounded by no bits
    return None if agree.exact_counts or shows_none else Objection("reveal", _NO_EXACT_COUNTS)


def _bits_objection(local: PartyInputs, agree: Acceptance, terms: Terms) -> Objection | None:
    """Object to more bits than ever may be revealed of as many records as we bring."""
    most = agree.life.bits_of(len(local.records))
    fits = most is None or terms.most_bits is None or terms.most_bits <= most
    return None if fits else _unwelcome("most_bits", f"most_bits = {terms.most_bits:,}", f": it allows {most:,}")


def _unwelcome(term: str, asked: str, cure: str = "") -> Objection:
    """Object to a term, and name the key that refuses it, and a way out that the key's name does not say."""
    key = _AGREE_KEYS.get(term, term)
    return Objection(term, f"the job asks for {asked}, our [agree] {key} does not allow it{cure}")


def _noise_cure(agree: Acceptance) -> str:
    least = min((bound for bound in (agree.noise, agree.epsilon) if bound is not None), default=None)
    return f'write noise = "{noise_text(least)}" or less in the job'


_NO_EXACT_COUNTS = (
    'by reveal = "counts" or "sets" the peer sees exact counts, or how they compare, from which it can work out '
    'records of ours: take reveal = "tree", or noise, or allow it by [agree] exact_counts = true'
)
_NO_EPSILON = (
    'our [agree] epsilon is "any", and noise protects only as far as that bounds it: write the most that all runs over '
    'the data set may spend, such as epsilon = "1"'
)
_NO_ANSWERS = (
    "our [agree] most_predictions is 0: an answer about a person shows on which side of our splits that person is; "
    "set it to the number of people about whom we may answer"
)
_NO_NOISE = (
    "our [agree] epsilon bounds what is learned of each person, and an answer has no noise: no prediction keeps it"
)
_NO_ALIGNMENT = (
    "our [agree] most_alignments allows no alignment: bring tables of the same people on both sides, or let it be 1"
)
_AGREE_KEYS = {
    "method": "methods",
    "key_bits": "smallest_key_bits",
    "noise": "noise or epsilon",
}
"""What bounds a term, where it has another name."""


def _prediction_objection(agree: Acceptance, terms: PredictionTerms, *, initiates: bool) -> Objection | None:
    """Return the first term of a joint prediction that this party does not agree to."""
    if terms.receiver is not (Receiver.INITIATOR if initiates else Receiver.RESPONDER):
        if not agree.life.allows_predictions:
            return Objection("predictions", _NO_ANSWERS)
        if agree.epsilon is not None:
            return Objection("predictions", _NO_NOISE)
    if terms.probabilities and not agree.probabilities:
        return _unwelcome("probabilities", "probabilities")
    return None


def _is_noisy_enough(agree: Acceptance, terms: Terms) -> bool:
    """Tell whether a job's epsilon is within what a run, and all runs together, may spend; no noise is within neither.

    What earlier runs have spent is judged when it is known which run this is (`releases`).
    """
    bounds = [bound for bound in (agree.noise, agree.epsilon) if bound is not None]
    return all(terms.epsilon is not None and terms.epsilon <= bound for bound in bounds)


def _disguise_objection(local: PartyInputs, terms: Terms, most_odds: Fraction | None) -> Objection | None:
    try:
        if terms.disguises:
            check_disguise(local, terms, most_odds)
    except InputError as error:
        return Objection("theta", str(error))
    return None
