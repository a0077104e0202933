"""What the networks learn: pictures and text of Debian's packages."""
import gzip
import re
from collections import Counter
from pathlib import Path

import numpy as np

PICTURES = Path("/usr/share/datasets/fashion-mnist")  # package dataset-fashion-mnist, MIT
MANUALS = Path("/usr/share/perl")  # package perl-doc, Artistic or GPL-1+
HELD_BACK = 0.05  # the last part of the text, for the test


def _found(paths, package):
    if not paths:
        raise SystemExit(f"scripts/measure training: the data are not there; they are in Debian's package {package}")
    return paths


def pictures(part):
    """Returns float32 [N, 1, 28, 28] around 0, and int64 [N]. `part`: "train" or "t10k"."""
    arrays = []
    for kind, header in (("images-idx3", 16), ("labels-idx1", 8)):
        path = _found(sorted(PICTURES.rglob(f"{part}-{kind}-ubyte*")), "dataset-fashion-mnist")[0]
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        arrays.append(np.frombuffer(raw, np.uint8, offset=header))
    return ((arrays[0].reshape(-1, 1, 28, 28).astype(np.float32) / 255 - 0.286) / 0.353), arrays[1].astype(np.int64)


def manuals():
    """Returns Perl's manual in the order of its pages' names, without the lists of what changed in a version."""
    pages = _found(sorted(MANUALS.glob("*/pod/*.pod")), "perl-doc")
    return "".join(page.read_text("utf-8", "replace") for page in pages if not page.name.endswith("delta.pod"))


def _parted(numbers):
    cut = int(len(numbers) * (1 - HELD_BACK))
    return numbers[:cut], numbers[cut:]


def characters(kinds):
    """Returns the text as int64 below `kinds`, 0 for rare ones, in a part to learn and one to test."""
    codes = np.frombuffer(manuals().encode("utf-32-le"), np.uint32)
    values, counts = np.unique(codes, return_counts=True)
    frequent = values[np.argsort(-counts, kind="stable")][: kinds - 1]
    numbers = np.zeros(codes.max() + 1, np.int64)
    numbers[frequent] = np.arange(1, len(frequent) + 1)
    return _parted(numbers[codes])


def words(kinds):
    """Returns the text's words likewise."""
    found = re.findall(r"[a-z_]+", manuals().lower())
    frequent = sorted(Counter(found).items(), key=lambda word: (-word[1], word[0]))[: kinds - 1]
    numbers = {word: number for number, (word, _) in enumerate(frequent, 1)}
    return _parted(np.array([numbers.get(word, 0) for word in found]))
