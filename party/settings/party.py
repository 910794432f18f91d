"""A party's own settings, `party.toml`.

The file says what this party holds, how its columns become attributes (DESIGN 3), how they are disguised, and what it
agrees to; it stays at home. Every key is checked: the error names file, key and legal range.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Final, TypeVar

from party.compute.settings import ALL_CPUS, MOST_WORKERS, ComputeSettings
from party.data.bins import MOST_SMALLEST_VALUE, SMALLEST_VALUE, ColumnTreatment, number
from party.data.columns import EVERY_OTHER
from party.data.form import Form
from party.data.ids import IdColumns
from party.data.moments import day
from party.data.texts import MISSING_MARKERS
from party.errors import ConfigError, IdentityError
from party.files import is_there
from party.names import check_party_name
from party.settings.ids import (
    ID_KEYS,
    USUAL_ALIGNMENTS,
    AlignmentBounds,
    read_id_columns,
)
from party.settings.place import CONFIG_FILE, settings_file
from party.settings.toml import BLANKS, Address, Section, declared_values, read_address, read_toml
from protocols.errors import InputError
from protocols.kinds import MOST_DIGITS, Between, Exact, Flag, PickList
from protocols.terms import (
    ALL,
    BITS,
    DEPTH,
    KEY_BITS,
    KEY_FLOOR,
    LEAF,
    NOISE,
    OMEGA,
    RECORDS_PER_BIT,
    SETS,
    USUAL_KEY_BITS,
    Counting,
    Method,
    Window,
)
from protocols.two_party.inputs import USUAL_LIMITS, Limits

ANY: Final = "any"
SHARE_OF_RECORDS: Final = f"n/{RECORDS_PER_BIT}"
_COUNT: Final = Between(1, 10**12, ANY)
_ODDS: Final = Exact(
    Fraction(1),
    Fraction(10**MOST_DIGITS - 1),
    'must be a number above 1, as in 2 for "2 to 1", or "any"',
    ANY,
    opens=(Fraction(1),),
)
_BUDGET: Final = Exact(NOISE.low, Fraction(10**6), 'must be an exact number from 0.001 to 1000000, or "any"', ANY)


@dataclass(frozen=True)
class LifeBounds:
    """The most over the life of a data set, None for any.

    `most_runs` are those on different terms, `most_bits` those of trees that alone were revealed and of answers by
    them, `most_counts` the exact ones revealed, `most_predictions` the rows answered for together. One run is usual:
    counts and accuracies of two can be subtracted (DESIGN 14); and no prediction: an answer about a person shows on
    which side of our splits that person is (13).
    """

    most_runs: Annotated[int | None, _COUNT] = None
    most_bits: Annotated[int | str | None, replace(BITS, word=ANY, other=SHARE_OF_RECORDS)] = SHARE_OF_RECORDS
    most_counts: Annotated[int | None, _COUNT] = None
    most_predictions: Annotated[int | None, replace(_COUNT, low=0)] = 0

    def bits_of(self, records: int) -> int | None:
        """Return the most bits that may be revealed of this many records; None for any."""
        return records // RECORDS_PER_BIT if isinstance(self.most_bits, str) else self.most_bits

    @property
    def allows_predictions(self) -> bool:
        """Whether joint predictions may be answered at all."""
        return self.most_predictions is None or self.most_predictions > 0


USUAL_BOUNDS: Final = LifeBounds(most_runs=1)


@dataclass(frozen=True)
class PredictSettings:
    """What `serve` brings to a joint prediction: the rows, where it offers any, and the model."""

    rows: Path | None
    model: Path


@dataclass(frozen=True)
class NodeSettings:
    """Where this party listens, who its peer is and where to reach it; `patience` and `silence` in seconds."""

    listen: Address | None
    peer: str | None
    address: Address | None
    patience: int
    silence: int


def read_party_name(section: Section, key: str, name: str) -> str:
    """Return a party's name.

    Raises:
        ConfigError: It is none.
    """
    try:
        check_party_name(name)
    except IdentityError as error:
        raise section.error(key, str(error)) from None
    return name


def read_node(section: Section, name: str) -> NodeSettings:
    """Read `[node]` of the party of this name.

    Raises:
        ConfigError: A setting is out of its range.
    """
    peer = section.text("peer", None)
    if peer == name:
        raise section.error("peer", "is this party's own name: name the other party")
    return NodeSettings(
        listen=read_address(section, "listen", lowest_port=0),
        peer=peer if peer is None else read_party_name(section, "peer", peer),
        address=read_address(section, "address", lowest_port=1),
        patience=section.integer("patience", 1, 86400, 30),
        silence=section.integer("silence", 1, 604800, 3600),
    )


def read_predict(section: Section, folder: Path) -> PredictSettings:
    """Read `[predict]`; its files are relative to this folder."""
    rows = section.text("rows", None)
    return PredictSettings(None if rows is None else folder / rows, folder / section.text("model", "model.json"))


T = TypeVar("T")

HERE = "local"
USUAL_MIN_LEAF = 5

_GONE = {
    "ranks": "both sides' estimated gains rank, and no gain is revealed",
    "ciphers": "counting lists how counts may be made",
}
_GONE_COMPUTE = {"exponents": "they are always full"}


@dataclass(frozen=True)
class DataSettings:
    """Where the records are, and which columns are special."""

    file: Path
    ids: IdColumns
    dataset: str
    class_column: str | None
    form: Form
    ignore: tuple[str, ...]
    smallest_value: int = SMALLEST_VALUE


@dataclass(frozen=True)
class ColumnSettings:
    """How each column becomes an attribute: by its own treatment, or by that of all others."""

    named: Mapping[str, ColumnTreatment]
    others: ColumnTreatment


@dataclass(frozen=True)
class DisguiseSettings:
    """Groups, or their number; None: each column has a coin of its own. `plain` columns are sent as they are."""

    groups: int | tuple[tuple[str, ...], ...] | None
    plain: tuple[str, ...]


@dataclass(frozen=True)
class Acceptance:
    """What this party agrees to: methods, odds of a column to 1, largest window (`ALL`), keys, limits.

    `odds` bounds, either way, how far one disguised value may speak for itself against any one other; None for any.
    `exact_counts` allows runs whose counts the peer sees without noise, `most_sets` bounds the `most_sets` of rules.
    `max_depth` is the largest that a job may have, which must then have one; None for any. `min_leaf` is the smallest.
    `noise` is the largest epsilon against each side that a job may have, which must then have one, and `epsilon` the
    most that all runs over the data set may spend together; None for any. `life` bounds those runs otherwise,
    `alignments` what the peer may learn of whom we list.
    `probabilities` allows joint predictions that give the shares of the classes beside the class.
    """

    methods: Annotated[tuple[Method, ...], PickList(Method)]
    odds: Annotated[Fraction | None, _ODDS]
    omega: Annotated[Window, OMEGA]
    counting: Annotated[tuple[Counting, ...], PickList(Counting)]
    smallest_key_bits: Annotated[int, KEY_BITS]
    max_depth: Annotated[int | None, DEPTH]
    min_leaf: Annotated[int, LEAF]
    limits: Limits = USUAL_LIMITS
    noise: Annotated[Fraction | None, replace(NOISE, legal=f'{NOISE.legal}, or "any"', word=ANY)] = None
    epsilon: Annotated[Fraction | None, _BUDGET] = None
    life: LifeBounds = USUAL_BOUNDS
    probabilities: Annotated[bool, Flag()] = False
    exact_counts: Annotated[bool, Flag()] = False
    most_sets: Annotated[int | None, replace(SETS, word=ANY)] = None
    alignments: AlignmentBounds = USUAL_ALIGNMENTS

    @property
    def answers(self) -> bool:
        """Whether any joint prediction is answered: an answer has no noise, so it keeps no epsilon."""
        return self.life.allows_predictions and self.epsilon is None


USUAL_AGREE: Final = Acceptance(
    tuple(Method), Fraction(2), ALL, tuple(Counting), USUAL_KEY_BITS, max_depth=None, min_leaf=USUAL_MIN_LEAF
)


@dataclass(frozen=True)
class PartyConfig:
    """A party's settings. Keys and certificates lie in the folder of the file."""

    path: Path
    name: str
    data: DataSettings
    columns: ColumnSettings
    disguise: DisguiseSettings
    agree: Acceptance
    node: NodeSettings
    compute: ComputeSettings
    predict: PredictSettings

    @property
    def folder(self) -> Path:
        """The party's folder."""
        return self.path.parent

    def need_peer(self) -> str:
        """Return the peer's name.

        Raises:
            ConfigError: It is not set.
        """
        return _needed(self.path, "peer", self.node.peer)

    def need_listen(self) -> Address:
        """Return the address to listen on.

        Raises:
            ConfigError: It is not set.
        """
        return _needed(self.path, "listen", self.node.listen)

    def need_address(self) -> Address:
        """Return the peer's address.

        Raises:
            ConfigError: It is not set.
        """
        return _needed(self.path, "address", self.node.address)


_NODE_CURES = {
    "peer": "name the other party, as `cotally trust` and `pair` show it",
    "listen": 'write where `cotally serve` shall listen, such as "0.0.0.0:7071"',
    "address": "write where the peer listens; the side that listens runs `cotally serve`, and needs none",
}


def _needed(path: Path, key: str, value: T | None) -> T:
    if value is None:
        raise ConfigError(f"{path}: [node] {key}: is missing: {_NODE_CURES[key]}")
    return value


def read_party_config(path: Path, key_floor: int = KEY_FLOOR) -> PartyConfig:
    """Read a `party.toml`.

    Args:
        path: The file, or what else names the party (`party.settings.place`).
        key_floor: No key may be smaller, whatever the file says.

    Raises:
        ConfigError: The file cannot be read, or a setting is missing, unknown or out of range.
        InputError: Others can change the folder or read its secrets.
    """
    path = settings_file(path)
    if path.name == CONFIG_FILE and path.parent.is_dir() and not is_there(path):
        raise ConfigError(
            f"{path.parent} holds no {path.name}, so it is no party's folder: name another, or make a party there "
            "(`cotally init`)"
        )
    top = read_toml(path, ("name", "data", "columns", "disguise", "agree", "node", "compute", "predict"))
    name = read_party_name(top, "name", top.text("name"))
    data = _data(top)
    return PartyConfig(
        path=path,
        name=name,
        data=data,
        columns=_columns(top.section("columns", None), data),
        disguise=_disguise(top.section("disguise", ("groups", "plain"))),
        agree=_acceptance(top.section("agree", declared_values(USUAL_AGREE), _GONE), key_floor),
        node=read_node(top.section("node", ("listen", "peer", "address", "patience", "silence")), name),
        compute=_compute(top),
        predict=read_predict(top.section("predict", ("rows", "model")), path.parent),
    )


def _data(top: Section) -> DataSettings:
    written = ("separator", "encoding", "decimal", "missing")
    data = top.section("data", ("file", *ID_KEYS, "dataset", "class", *written, "ignore", "smallest_value"))
    file = top.path.parent / data.text("file")
    settings = DataSettings(
        file=file,
        ids=read_id_columns(data),
        dataset=data.text("dataset", file.stem),
        class_column=data.text("class", None, controls=BLANKS),
        form=_form(data),
        ignore=data.texts("ignore", ()),
        smallest_value=data.integer("smallest_value", 1, MOST_SMALLEST_VALUE, SMALLEST_VALUE),
    )
    special = {"id": settings.ids.names, "class": (settings.class_column,), "items": (settings.ids.items,)}
    for key, columns in special.items():
        if not {*columns}.isdisjoint(settings.ignore):
            raise data.error("ignore", f"the {key} column cannot be ignored: take it out of the list")
    if settings.class_column in settings.ids.names:
        raise data.error("class", "is the id column: name another")
    if settings.ids.items is not None and settings.class_column is not None:
        raise data.error("class", "rows of ids and items have no class: take it out, the other party brings it")
    return settings


def _form(data: Section) -> Form:
    separator, encoding = data.text("separator", None, controls="\t"), data.text("encoding", None)
    markers, decimal = _markers(data), data.text("decimal", None)
    try:
        return Form(separator, encoding, markers, decimal)
    except InputError as error:
        raise data.error(error.field or "separator", error.problem) from None


def _markers(data: Section) -> tuple[str, ...] | None:
    return (*MISSING_MARKERS, *data.texts("missing")) if "missing" in data.names else None


def _columns(columns: Section, data: DataSettings) -> ColumnSettings:
    treatments = {}
    for name in columns.names:
        if name in (*data.ids.names, data.ids.items, *data.ignore):
            raise columns.error(
                name, "needs no treatment, take it out: it is an id, the column of items, or under [data] ignore"
            )
        treatments[name] = _treatment(columns, name, data.smallest_value)
    others = treatments.pop(EVERY_OTHER, ColumnTreatment(smallest_value=data.smallest_value))
    return ColumnSettings(treatments, others)


def _treatment(columns: Section, name: str, smallest_value: int) -> ColumnTreatment:
    section = columns.section(name, ("bins", "max_values", "missing", "not_missing", "smallest_value", "order"))
    bins = section.raw("bins", None)
    if isinstance(bins, list):
        bins = tuple(_edge(section, edge) for edge in bins)
    elif not isinstance(bins, str | None):
        raise section.error("bins", "must be text or a list of edges")
    max_values = section.raw("max_values", None)
    if type(max_values) not in (int, type(None)):
        raise section.error("max_values", "must be an integer")
    missing = section.text("missing", "value", "'value', 'majority', 'refuse' or a text to fill in", BLANKS)
    smallest = section.integer("smallest_value", 1, MOST_SMALLEST_VALUE, smallest_value)
    try:
        known, order = section.texts("not_missing", ()), section.texts("order", ())
        return ColumnTreatment(bins, max_values, missing, known, smallest, order)
    except ConfigError as error:
        raise columns.error(name, str(error)) from None


def _edge(section: Section, edge: object) -> Decimal | date:
    if isinstance(edge, Decimal) or type(edge) is date:
        return edge
    if type(edge) in (int, str) and (value := number(str(edge))) is not None:
        return value
    if isinstance(edge, str) and (ordinal := day(edge)) is not None:
        return date.fromordinal(int(ordinal))
    raise section.error("bins", "the edges must be numbers, or dates such as 2024-12-31")


def _disguise(section: Section) -> DisguiseSettings:
    groups = section.raw("groups", None)
    if isinstance(groups, list):
        groups = tuple(_group(section, group) for group in groups)
    elif groups is not None:
        groups = section.integer("groups", 1, 8)
    plain = section.texts("plain", ())
    named = [column for group in groups for column in group] if isinstance(groups, tuple) else []
    for column in named:
        if named.count(column) > 1:
            raise section.error("groups", f"column {column!r} is in two groups: name each column once")
        if column in plain:
            raise section.error("plain", f"column {column!r} is in a group too: name each column once")
    return DisguiseSettings(groups, plain)


def _group(section: Section, group: object) -> tuple[str, ...]:
    if not isinstance(group, list) or not group or not all(isinstance(column, str) for column in group):
        raise section.error("groups", "must be an integer from 1 to 8, or a list of lists of column names")
    return tuple(group)


def _acceptance(section: Section, key_floor: int) -> Acceptance:
    bits = section.value("smallest_key_bits", replace(KEY_BITS, low=key_floor), max(key_floor, USUAL_KEY_BITS))
    agree = section.read(replace(USUAL_AGREE, smallest_key_bits=bits))
    if agree.noise is not None and agree.epsilon is None:
        enough = f'such as epsilon = "{NOISE.text(agree.noise)}"'
        raise section.error("noise", f"bounds one run alone: set epsilon too, for all runs over a data set, {enough}")
    return agree


def _compute(top: Section) -> ComputeSettings:
    """Read `[compute]`, or `compute = "dask://host:8786"` in its place."""
    if isinstance(top.raw("compute", None), str):
        return _cluster(top, "compute", top.text("compute"))
    section = top.section("compute", ("workers", "on"), _GONE_COMPUTE)
    on = section.text("on", HERE)
    workers = section.integer("workers", 0, MOST_WORKERS, ALL_CPUS)
    if on == HERE:
        return ComputeSettings(workers)
    if workers != ALL_CPUS:
        raise section.error("workers", "counts processes of this machine: leave it out, or 0, with a cluster")
    return _cluster(section, "on", on)


def _cluster(section: Section, key: str, address: str) -> ComputeSettings:
    try:
        return ComputeSettings(cluster=address)
    except InputError:
        raise section.error(key, f'must be "{HERE}" or a cluster such as "dask://host:8786"') from None
