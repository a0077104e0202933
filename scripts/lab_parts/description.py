"""What a lab looks like: the file format (docs/lab.md) and what is computed from it alone. Nothing here touches the system."""
import re
from dataclasses import dataclass
from pathlib import Path

PRESETS = Path(__file__).resolve().parent / "presets"
MAX_HOSTS = 32
MAX_SWITCHES = 32
MIN_RATE_BIT = 1_000_000
MAX_RATE_BIT = 10_000_000_000
UNITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
NAME = re.compile(r"[a-z][a-z0-9-]{0,11}")
HEAD = "head"


class LabError(Exception):
    """A message for people: what is wrong and what would be right."""


class NotHere(LabError):
    """This machine, or who asks, may not have labs."""


@dataclass(frozen=True)
class Node:
    """A host or a switch with the link to the switch above it; the top switch has none."""

    name: str
    is_host: bool
    parent: str | None
    rate_bit: int | None
    number: int

    @property
    def address(self):
        return f"10.99.0.{self.number + 1}"

    @property
    def management_address(self):
        return f"10.98.0.{self.number + 1}"

    @property
    def uplink_device(self):
        """The device at this node's end of its link."""
        return "eth0" if self.is_host else "uplink"

    @property
    def port_device(self):
        """The device at the other end, in the switch above."""
        return f"p-{self.name}"


@dataclass(frozen=True)
class Description:
    nodes: tuple[Node, ...]

    @property
    def hosts(self):
        return [node for node in self.nodes if node.is_host]

    @property
    def switches(self):
        return [node for node in self.nodes if not node.is_host]

    @property
    def top(self):
        return next(node for node in self.nodes if node.parent is None)

    @property
    def linked(self):
        """All nodes that have a link upwards, thus one for each link."""
        return [node for node in self.nodes if node.parent is not None]

    def children(self, name):
        return [node for node in self.nodes if node.parent == name]

    def hosts_below(self, node):
        if node.is_host:
            return [node]
        return [host for child in self.children(node.name) for host in self.hosts_below(child)]


def parse_rate(text):
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)([kmg]bit)", text.lower())
    if not match:
        raise LabError(f"'{text}' is no rate; expected a number with Kbit, Mbit or Gbit, such as 500Mbit")
    rate = round(float(match[1]) * UNITS[match[2]])
    if not MIN_RATE_BIT <= rate <= MAX_RATE_BIT:
        raise LabError(f"rate {text} is outside 1Mbit to 10Gbit")
    return rate


def rate_text(rate_bit):
    for unit, size in (("Gbit", 10**9), ("Mbit", 10**6)):
        if rate_bit >= size:
            return f"{rate_bit / size:.4g}{unit}"
    return f"{rate_bit / 1000:.4g}Kbit"


def expand(word):
    """'a[1-3]' -> a1 a2 a3."""
    match = re.fullmatch(r"([a-z0-9-]*)\[([0-9]{1,4})-([0-9]{1,4})\]", word)
    if not match:
        return [word]
    first, last = int(match[2]), int(match[3])
    if last < first or last - first >= MAX_HOSTS:
        raise LabError(f"'{word}' must count upwards, over at most {MAX_HOSTS} names")
    return [f"{match[1]}{number}" for number in range(first, last + 1)]


class _Parser:
    def __init__(self):
        self.rows = []  # (name, is_host, parent, rate_bit)
        self.switches = set()
        self.names = {HEAD}

    def line(self, words):
        kind, *rest = words
        if kind not in ("switch", "host"):
            raise LabError(f"'{kind}' begins the line; expected switch or host")
        if kind == "switch" and len(rest) == 1:
            if self.rows:
                raise LabError(f"switch {rest[0]} has no switch above it; only the first line's may be the top")
            self.add(rest[0], False, None, None)
            return
        if len(rest) < 3:
            raise LabError(f"expected '{kind} NAME... SWITCH-ABOVE RATE'")
        *words, parent, rate = rest
        if parent not in self.switches:
            raise LabError(f"there is no switch '{parent}' above this line")
        for name in [name for word in words for name in expand(word)]:
            self.add(name, kind == "host", parent, parse_rate(rate))

    def add(self, name, is_host, parent, rate_bit):
        if not NAME.fullmatch(name):
            raise LabError(f"'{name}' is no name; expected up to 12 of a-z, 0-9 and -, beginning with a letter")
        if name in self.names:
            raise LabError(f"the name '{name}' is taken")
        self.names.add(name)
        if not is_host:
            self.switches.add(name)
        self.rows.append((name, is_host, parent, rate_bit))


def parse(text, where="lab"):
    """The description in `text`. Errors: LabError with `where` and the line's number."""
    parser = _Parser()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#", 1)[0].split()
        try:
            if words:
                parser.line(words)
        except LabError as error:
            raise LabError(f"{where}, line {number}: {error}") from None
    description = Description(tuple(Node(*row, number) for number, row in enumerate(parser.rows)))
    _check(description, where)
    return description


def _check(description, where):
    if not 2 <= len(description.hosts) <= MAX_HOSTS or len(description.switches) > MAX_SWITCHES:
        raise LabError(f"{where}: {len(description.hosts)} hosts and {len(description.switches)} switches; "
                       f"allowed are 2 to {MAX_HOSTS} hosts and up to {MAX_SWITCHES} switches")
    for switch in description.switches:
        if not description.hosts_below(switch):
            raise LabError(f"{where}: there is no host below switch {switch.name}")


def read(file_or_preset):
    """The text and the description of a preset or a file. Errors: LabError."""
    preset = PRESETS / f"{file_or_preset}.lab"
    path = preset if NAME.fullmatch(file_or_preset) and preset.is_file() else Path(file_or_preset)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        presets = ", ".join(sorted(entry.stem for entry in PRESETS.glob("*.lab")))
        raise LabError(f"'{file_or_preset}' is neither a preset ({presets}) nor a readable file: {error}") from None
    return text, parse(text, str(file_or_preset))
