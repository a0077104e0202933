"""Finished runs: a CSV file to which each is added at once, so that what was interrupted goes on where it stopped."""
import csv
from typing import NamedTuple


class Key(NamedTuple):
    """It says which run a row is of."""

    model: str
    size: str
    way: str
    ranks: int
    seed: int


def key_of(row):
    return Key(row["model"], row["size"], row["way"], int(row["ranks"]), int(row["seed"]))


def read(path):
    """Returns the rows by key. A last line that was cut off is no row."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {key_of(row): row for row in csv.DictReader(file) if None not in row.values()}


def append(path, row):
    is_new = not path.exists() or path.stat().st_size == 0
    if not is_new:
        _end_line(path)
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def _end_line(path):
    """What was cut off stays a line of its own."""
    with path.open("rb+") as file:
        file.seek(-1, 2)
        if file.read(1) != b"\n":
            file.write(b"\n")
