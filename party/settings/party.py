"""A party's own settings, `party.toml`.

The file says what this party holds, how its columns become attributes (DESIGN 3), how they are disguised, and what it
agrees to; it stays at home. Every key is checked: the error names file, key and legal range.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from party.compute import ALL_CPUS, MOST_WORKERS, ComputeSettings
from party.data.bins import BY_CLASS, MOST_SMALLEST_VALUE, SMALLEST_VALUE, ColumnTreatment, number
from party.data.columns import EVERY_OTHER
from party.data.form import Form
from party.data.ids import REFUSE, REPEATED, IdColumns
from party.data.moments import day
from party.data.query import TableQuery
from party.data.texts import MISSING_MARKERS
from party.errors import ConfigError, IdentityError
from party.files import is_there
from party.names import Address, check_party_name
from party.settings.place import CONFIG_FILE, settings_file
from party.settings.toml import (
    BLANKS,
    LINE,
    NAME,
    REQUIRED,
    TEXTS,
    Declared,
    Key,
    Read,
    Section,
    address,
    keys_of,
    read_toml,
)
from protocols.errors import InputError
from protocols.identifiers import USUAL_FORM, read_form
from protocols.kinds import MOST_DIGITS, Between, Exact, Flag, Pick, PickList
from protocols.tables import MAX_DOMAIN
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
USUAL_MIN_LEAF: Final = 5
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
    """The most over the life of a data set, None for any: what counts and answers reveal adds up (DESIGN 13, 14)."""

    most_runs: Annotated[int | None, _COUNT, "most runs on different terms, for life: two can be subtracted"] = 1
    most_bits: Annotated[int | str | None, replace(BITS, word=ANY, other=SHARE_OF_RECORDS), "most bits that trees "
        "alone, and predictions by them, may reveal: each bit may give the peer one fact about a "
        'person; or a number, or "any"'] = SHARE_OF_RECORDS  # fmt: skip
    most_counts: Annotated[int | None, _COUNT, "most exact counts that all runs may reveal"] = None
    most_predictions: Annotated[int | None, replace(_COUNT, low=0), "most people about whom joint predictions may "
        "answer: an answer shows what our columns say about a person; none under epsilon"] = 0  # fmt: skip

    def bits_of(self, records: int) -> int | None:
        """Return the most bits that may be revealed of this many records; None for any."""
        return records // RECORDS_PER_BIT if isinstance(self.most_bits, str) else self.most_bits

    @property
    def allows_predictions(self) -> bool:
        """Whether joint predictions may be answered at all."""
        return self.most_predictions is None or self.most_predictions > 0


_MOST_IDS: Final = 10**9
_SHARE: Final = Exact(Fraction(0), Fraction(1), 'must be a share from 0 to 1, such as "1/10"')


@dataclass(frozen=True)
class AlignmentBounds:
    """What a peer may ask about whom we list; `most_alignments` counts those of the same lists too."""

    least_overlap: Annotated[Fraction, _SHARE, "least share of the peer's ids that must be ours before it learns which"
        ] = Fraction(1, 10)  # fmt: skip
    most_ids: Annotated[int, Between(1, _MOST_IDS), "most ids that the peer may list in an alignment"] = 1_000_000
    most_alignments: Annotated[int, Between(0, _MOST_IDS), "most alignments; 0 allows none"] = 3


class Approve(StrEnum):
    """Which of the jobs that all other bounds allow run at once; the others wait until people have signed them."""

    ALWAYS = "always"
    WITHIN_BOUNDS = "within bounds"
    BY_HAND = "by hand"


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
    """Return a party's name."""
    try:
        check_party_name(name)
    except IdentityError as error:
        raise section.error(key, str(error)) from None
    return name


_SECONDS: Final = Between(1, 86400)
NODE: Final[Declared] = {
    "listen": Key(address(lowest_port=0), None, "where `cotally serve` listens", '"0.0.0.0:7071"'),
    "peer": Key(Read(lambda section, key: read_party_name(section, key, section.text(key)), "a party's name"), None,
        "the other party, trusted by `cotally trust`",
        '"PEER"'),
    "address": Key(address(lowest_port=1), None, "where `cotally train` reaches it; the listening side needs none",
        '"PEER.example.org:7071"'),
    "patience": Key(_SECONDS, 30, "seconds without a sign of life after which the peer is given up"),
    "silence": Key(replace(_SECONDS, high=604800), 3600, "seconds without a message after which a peer that lives "
        "is given up"),
}  # fmt: skip
PREDICT: Final[Declared] = {
    "rows": Key(LINE, None, "the file to classify with the peer's columns; without it, this side "
        "classifies nothing", '"new.csv"'),
    "model": Key(LINE, "model.json", "the model file that classifies them"),
}  # fmt: skip


def _read_node(section: Section, name: str) -> NodeSettings:
    node = NodeSettings(**section.values(NODE))
    if node.peer == name:
        raise section.error("peer", "is this party's own name: name the other party")
    return node


T = TypeVar("T")

HERE = "local"

GONE_SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "agree": {
        "ranks": "both sides' estimated gains rank, and no gain is revealed",
        "ciphers": "counting lists how counts may be made",
    },
    "compute": {"exponents": "they are always full"},
}
"""Keys of earlier releases by section, with what replaces each."""
GONE_NUMBER: Final[Mapping[str, str]] = {"groups": "each column has a coin of its own; lists of names share one"}
"""What 0.2.0 wrote into every file where nobody had chosen it: a number of groups, in [disguise]."""


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
    query: str | None = None

    @property
    def source(self) -> Path | TableQuery:
        """What is read: the file, or what a query in it gives."""
        return self.file if self.query is None else TableQuery(self.file, self.query)


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
    """What this party agrees to; None for any. `odds` bounds a disguised value either way, against any one other."""

    methods: Annotated[tuple[Method, ...], PickList(Method), "methods that a job may name"] = tuple(Method)
    odds: Annotated[Fraction | None, _ODDS, 'strongest odds to 1 of a disguised value, or "any"'] = Fraction(2)
    omega: Annotated[Window, OMEGA, "most attributes that may get exact counts at a node"] = ALL
    counting: Annotated[tuple[Counting, ...], PickList(Counting), "ways to count that a job may name"] = tuple(Counting)
    smallest_key_bits: Annotated[int, KEY_BITS, "smallest Paillier key accepted, in bits"] = USUAL_KEY_BITS
    max_depth: Annotated[int | None, DEPTH, "most splits of a path; if this is a number, the job must set one"] = None
    min_leaf: Annotated[int, LEAF, "fewest records of a leaf; 1 lets a tree name single persons"] = USUAL_MIN_LEAF
    limits: Limits = field(
        default=USUAL_LIMITS,
        metadata={
            "max_classes": "most values of the class: if they were names, every count would be a person",
            "smallest_class": "fewest training records of each class",
            "smallest_test": "fewest held-out records, unless none are held out: an accuracy over one reveals a person",
            "most_values": "most values of a column that the peer brings to a table, or where no count is revealed: "
            "more values reveal more about people whom it picked",
            "most_columns": "most columns that the peer may bring where no count is revealed",
        },
    )
    exact_counts: Annotated[bool, Flag(), 'whether the other party may see exact counts (reveal = "counts"), from '
        "which it can work out records of ours"] = False  # fmt: skip
    most_sets: Annotated[int | None, replace(SETS, word=ANY), "most itemsets that a job for rules may ask about: "
        "the peer chooses which"] = None  # fmt: skip
    noise: Annotated[Fraction | None, replace(NOISE, legal=f'{NOISE.legal}, or "any"', word=ANY), "largest epsilon "
        "of a job; a number refuses exact counts; needs epsilon"] = None  # fmt: skip
    epsilon: Annotated[Fraction | None, _BUDGET, "most epsilon that all runs may spend; only with a number "
        "does noise replace min_leaf, most_bits and exact_counts"] = None  # fmt: skip
    life: LifeBounds = field(default_factory=LifeBounds)
    probabilities: Annotated[bool, Flag(), "whether joint predictions may include class shares, which nearly "
        "name the leaf"] = False  # fmt: skip
    alignments: AlignmentBounds = field(default_factory=AlignmentBounds)
    approve: Annotated[Approve, Pick(Approve), "which jobs, of those that all other keys allow, run at once: all, "
        "those for which every bound that applies is a number, or none; others wait for "
        "`cotally approve`"] = Approve.ALWAYS  # fmt: skip
    approvals: Annotated[int, Between(1, 2), "how many different people must approve a job that waits"] = 1

    @property
    def answers(self) -> bool:
        """Whether any joint prediction is answered: an answer has no noise, so it keeps no epsilon."""
        return self.life.allows_predictions and self.epsilon is None


USUAL_AGREE: Final = Acceptance()


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
        """Return the peer's name."""
        return _needed(self.path, "peer", self.node.peer)

    def need_listen(self) -> Address:
        """Return the address to listen on."""
        return _needed(self.path, "listen", self.node.listen)

    def need_address(self) -> Address:
        """Return the peer's address."""
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

    `path` is the file, or what else names the party (`party.settings.place`); no key may be smaller than the floor.
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
    rows, model = top.section("predict", PREDICT).values(PREDICT).values()
    return PartyConfig(
        path=path,
        name=name,
        data=data,
        columns=_columns(top.section("columns", None), data),
        disguise=_disguise(top.section("disguise", DISGUISE)),
        agree=_acceptance(top.section("agree", keys_of(USUAL_AGREE), GONE_SETTINGS["agree"]), key_floor),
        node=_read_node(top.section("node", NODE), name),
        compute=_compute(top),
        predict=PredictSettings(None if rows is None else path.parent / rows, path.parent / model),
    )


def _read_id(data: Section, key: str) -> tuple[str, ...]:
    names = data.texts(key) if isinstance(data.raw(key), list) else (data.text(key, controls=BLANKS),)
    if not names:
        raise data.error(key, "must name a column, or a list of columns, each once")
    return names


def _id_columns(data: Section, values: Mapping[str, Any]) -> IdColumns:
    """Return which columns make an id, in which form."""
    names, items = values["id"], values["items"]
    try:
        form = read_form(values["id_alike"], len(names))
    except InputError as error:
        raise data.error("id_alike", error.problem) from None
    if items in names:
        raise data.error("items", "is an id column: name another")
    if items is not None and "repeated" in data.names:
        raise data.error("repeated", "is not for rows of ids and items: take it out")
    return IdColumns(names, form, values["repeated"], items=items)


_SMALLEST: Final = Between(1, MOST_SMALLEST_VALUE)
DATA: Final[Declared] = {
    "file": Key(LINE, None, "CSV (.csv, .tsv, .txt, .gz) or .parquet, relative to this file", '"data.csv"'),
    "query": Key(Read(lambda data, key: data.text(key, controls=BLANKS), "text"), None, "SQL in place of a file, by "
        "DuckDB (pip install '.[sql]'): it reads files, databases and object stores; needs dataset; "
        "booleans are True and False, unless cast to text",
        '"SELECT * FROM \'*.parquet\'"'),
    "id": Key(Read(_read_id, "text, or a list of texts"), REQUIRED, "column that identifies a person, or "
        'columns: ["name", "birth"]', '"id"'),
    "id_alike": Key(TEXTS, USUAL_FORM.names, "which differences in spelling are ignored when ids are compared, the "
        'same at both parties (42.0 is 42); also "case", and "zeros" (0042 is 42)'),
    "repeated": Key(Read(lambda data, key: data.choice(key, REPEATED), ", ".join(f'"{each}"' for each in REPEATED)),
        REFUSE, 'where an id occurs again: refuse the table, or keep the "first" or the "last" row of it'),
    "items": Key(NAME, None, "rows of ids and items: a column of 0 and 1 for each item", '"product"'),
    "dataset": Key(LINE, None, "the data set's name, for life: under another, coins and "
        "bounds begin again (default: the file's)",
        '"visits-2026"'),
    "class": Key(NAME, None, "column to predict, if this party holds it", '"outcome"'),
    "separator": Key(Read(lambda data, key: data.text(key, controls="\t"), "one character"), None, "between columns "
        "(default: detected)", '";"'),
    "encoding": Key(LINE, None, "of the file (default: detected)", '"cp1252"'),
    "decimal": Key(LINE, None, 'decimal sign, "." or ","; the other groups thousands', '","'),
    "missing": Key(Read(lambda data, key: (*MISSING_MARKERS, *data.texts(key)), "a list of texts"), None,
        "texts that mean a missing cell, beside ?, -, NA, n/a, null and more", '["-99"]'),
    "ignore": Key(TEXTS, (), "columns to leave out, such as names and addresses"),
    "smallest_value": Key(_SMALLEST, SMALLEST_VALUE, "a value that fewer records hold is never named to the other "
        "party"),
}  # fmt: skip


def _data(top: Section) -> DataSettings:
    data = top.section("data", DATA)
    values = data.values(DATA)
    ids, file = _id_columns(data, values), _table(data, values)
    try:
        form = Form(*(values[key] for key in ("separator", "encoding", "missing", "decimal")))
    except InputError as error:
        raise data.error(error.field or "separator", error.problem) from None
    dataset, smallest = values["dataset"] or file.stem, values["smallest_value"]
    settings = DataSettings(file, ids, dataset, values["class"], form, values["ignore"], smallest, values["query"])
    special = {"id": settings.ids.names, "class": (settings.class_column,), "items": (settings.ids.items,)}
    for key, columns in special.items():
        if not {*columns}.isdisjoint(settings.ignore):
            raise data.error("ignore", f"the {key} column cannot be ignored: take it out of the list")
    if settings.class_column in settings.ids.names:
        raise data.error("class", "is the id column: name another")
    if settings.ids.items is not None and settings.class_column is not None:
        raise data.error("class", "rows of ids and items have no class: take it out, the other party brings it")
    return settings


def _table(data: Section, values: Mapping[str, Any]) -> Path:
    """Return the file of the table; of a query, the one that it stands in."""
    query, file = values["query"], values["file"]
    if query is None and file is not None:
        return Path(data.path.parent / file)
    if query is None or file is not None:
        raise data.error("file", "is missing: name a table" if query is None else "goes with no query: keep one")
    for key in ("separator", "encoding"):
        if values[key] is not None:
            raise data.error(key, "is of a file, not of a query: take it out")
    if values["dataset"] is None:
        raise data.error("dataset", "is missing: name the data set, since a query has no file's name")
    return data.path


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


def _read_bins(section: Section, key: str) -> str | tuple[Decimal | date, ...]:
    bins = section.raw(key)
    if isinstance(bins, list):
        return tuple(_edge(section, place, edge) for place, edge in enumerate(bins, start=1))
    if not isinstance(bins, str):
        raise section.error(key, "must be text or a list of edges")
    return bins


def _read_most(section: Section, key: str) -> int:
    if type(section.raw(key)) is not int:
        raise section.error(key, "must be an integer")
    return int(section.raw(key))


_FILLERS: Final = "'value', 'majority', 'refuse' or a text to fill in"
TREATMENT: Final[Declared] = {
    "bins": Key(Read(_read_bins, "text, or a list of edges"), None, 'for numbers "median-of-range", "quantiles:4", '
        'or edges such as [18, 65]; for dates "year", "quarter", "month", or edges such as [2019-12-31, 2023-12-31]; '
        'for either, "class", where the class changes: for the side that holds it, not with noise'),
    "max_values": Key(Read(_read_most, f"an integer from 2 to {MAX_DOMAIN}"), None, "keep the commonest values, the "
        'others become "other"; bins join their neighbours'),
    "group": Key(Read(lambda column, key: column.choice(key, (BY_CLASS,)), f'"{BY_CLASS}"'), None, "categories in "
        "which the class is distributed alike become one, until max_values are left: for the side that holds it, not "
        "with noise",
        '"class"'),
    "missing": Key(Read(lambda column, key: column.text(key, REQUIRED, _FILLERS, BLANKS), "text"), "value",
        '"value" (a value of its own), "majority" (the other party learns which), "refuse", or a text to fill in; '
        "the model keeps it, and predictions do the same"),
    "not_missing": Key(TEXTS, (), 'texts that are values here, though missing cells elsewhere: ["NA"] for Namibia'),
    "smallest_value": Key(_SMALLEST, None, 'rarer values become "other", rarer bins join others (default: as in '
        "[data])"),
    "order": Key(TEXTS, (), "the values of a column of texts from low to high, where a split may cut between them"),
}  # fmt: skip


def _treatment(columns: Section, name: str, smallest_value: int) -> ColumnTreatment:
    values = columns.section(name, TREATMENT).values(TREATMENT)
    try:
        return ColumnTreatment(**{**values, "smallest_value": values["smallest_value"] or smallest_value})
    except ConfigError as error:
        raise columns.error(name, str(error)) from None


def _edge(section: Section, place: int, edge: object) -> Decimal | date:
    if isinstance(edge, Decimal) or type(edge) is date:
        return edge
    if type(edge) in (int, str) and (value := number(str(edge))) is not None:
        return value
    if isinstance(edge, str) and (ordinal := day(edge)) is not None:
        return date.fromordinal(int(ordinal))
    raise section.error("bins", f"edge {place} must be a number, or a day that there is, such as 2024-12-31")


_GROUPS: Final = "must be an integer from 1 to 8, or a list of lists of column names"


def _read_groups(section: Section, key: str) -> int | tuple[tuple[str, ...], ...]:
    groups = section.raw(key)
    if not isinstance(groups, list):
        number: int = section.value(key, Between(1, 8))
        return number
    for group in groups:
        if not isinstance(group, list) or not group or not all(isinstance(column, str) for column in group):
            raise section.error(key, _GROUPS)
    return tuple(map(tuple, groups))


DISGUISE: Final[Declared] = {
    "groups": Key(Read(_read_groups, _GROUPS.removeprefix("must be ")), None, "columns that share a coin: how "
        'many groups, or their columns: [["age", "city"], ["income"]]', "2"),
    "plain": Key(TEXTS, (), "columns that are not sensitive, sent as they are"),
}  # fmt: skip


def _disguise(section: Section) -> DisguiseSettings:
    groups, plain = section.values(DISGUISE).values()
    named = [column for group in groups for column in group] if isinstance(groups, tuple) else []
    for column in named:
        if named.count(column) > 1:
            raise section.error("groups", f"column {column!r} is in two groups: name each column once")
        if column in plain:
            raise section.error("plain", f"column {column!r} is in a group too: name each column once")
    return DisguiseSettings(groups, plain)


def _acceptance(section: Section, key_floor: int) -> Acceptance:
    bits = section.value("smallest_key_bits", replace(KEY_BITS, low=key_floor), max(key_floor, USUAL_KEY_BITS))
    agree = section.read(replace(USUAL_AGREE, smallest_key_bits=bits))
    if agree.noise is not None and agree.epsilon is None:
        enough = f'such as epsilon = "{NOISE.text(agree.noise)}"'
        raise section.error("noise", f"bounds only one run: set epsilon too, for all runs over a data set, {enough}")
    return agree


COMPUTE: Final[Declared] = {
    "on": Key(LINE, HERE, "\"local\", or a Dask cluster (pip install '.[cluster]'). When this party encrypts, the "
        "cluster gets Paillier's key and the plaintexts, unencrypted over the network unless you write dask+tls:// "
        "for dask://", '"dask://host:8786"'),
    "workers": Key(Between(0, MOST_WORKERS), ALL_CPUS, "processes on this machine: 0 for one per processor, 1 for "
        "ours alone"),
}  # fmt: skip


def _compute(top: Section) -> ComputeSettings:
    """Read `[compute]`, or `compute = "dask://host:8786"` in its place."""
    if isinstance(top.raw("compute", None), str):
        return _cluster(top, "compute", top.text("compute"))
    section = top.section("compute", COMPUTE, GONE_SETTINGS["compute"])
    on, workers = section.values(COMPUTE).values()
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
