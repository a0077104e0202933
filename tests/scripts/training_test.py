#!/usr/bin/env python3
"""What scripts/measure training makes of rows: its test of equivalence, and what an interrupted table still trains.

usage: training_test.py SCRIPTS_FOLDER
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
SCRIPTS = Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SCRIPTS / "measure_parts"))

from training_parts import equivalence, rows  # noqa: E402
from training_parts.ways import DENSE, WAYS  # noqa: E402

# In the place of Python with torch: its loss is the seed's, and bf16's a little larger.
RANKS = """#!/usr/bin/env python3
import json, sys

for line in sys.stdin:
    seed, way = line.rstrip("\\n").split(" ", 1)
    off = 0.0001 * (way == "bf16") + 0.5 * (way == "int4")
    print(json.dumps({"way": way, "ranks": 1, "seed": int(seed), "loss": int(seed) + off, "right_percent": 90.0 - 10 * off,
                      "sent_bytes_a_rank": 50 if way == "bf16" else 100, "exact_bytes_a_rank": 100, "gain_of_sums": 1.0}), flush=True)
"""


class Student(unittest.TestCase):
    def test_quantiles_of_tables(self):
        for freedom, t, p in ((1, 1.0, 0.75), (2, 2.919986, 0.95), (3, 3.182446, 0.975), (4, 2.776445, 0.975), (9, 1.833113, 0.95),
                              (10, 2.763769, 0.99), (29, 2.045230, 0.975)):
            self.assertAlmostEqual(equivalence.student_cdf(t, freedom), p, places=6)
            self.assertAlmostEqual(equivalence.student_cdf(-t, freedom), 1 - p, places=6)


class Equivalence(unittest.TestCase):
    DENSE = {1: 1.0, 2: 3.0, 3: 2.0, 4: 5.0, 5: 4.0}

    def way(self, *off):
        return {seed: self.DENSE[seed] + off[seed - 1] for seed in self.DENSE}

    def test_pairs_are_of_one_seed(self):
        compared = equivalence.compare({2: 3.5, 3: 2.5, 9: 100.0}, self.DENSE, 1.0)
        self.assertEqual((compared.pairs, compared.difference, compared.error), (2, 0.5, 0.0))

    def test_a_margin_at_the_quantile_gives_five_percent(self):
        compared = equivalence.compare(self.way(0.1, -0.1, 0.2, -0.2, 0.0), self.DENSE, 1.0)
        at_quantile = equivalence.compare(self.way(0.1, -0.1, 0.2, -0.2, 0.0), self.DENSE, 2.131847 * compared.error)
        self.assertAlmostEqual(at_quantile.p, 0.05, places=6)

    def test_no_difference_seen_is_not_equivalence(self):
        self.assertGreater(equivalence.compare(self.way(1, -1, 2, -2, 0), self.DENSE, 0.1).p, 0.4)

    def test_a_difference_beyond_the_margin_is_none_on_both_sides(self):
        for side in (1, -1):
            self.assertGreater(equivalence.compare(self.way(*(side * off for off in (1, 1.1, 0.9, 1, 1))), self.DENSE, 0.5).p, 0.99)
            self.assertEqual(equivalence.compare(self.way(*[side * 0.5] * 5), self.DENSE, 0.25).p, 1.0)

    def test_one_pair_says_nothing(self):
        self.assertIsNone(equivalence.compare({1: 1.0}, self.DENSE, 1.0))


class Rows(unittest.TestCase):
    def test_a_torn_row_does_not_count_and_spoils_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.csv")
            row = {"model": "cnn", "size": "quick", "way": "2:4, feedback", "ranks": 2, "seed": 1, "loss": 0.5}
            rows.append(path, row)
            with path.open("a") as file:
                file.write("cnn,quick,ex")
            rows.append(path, {**row, "seed": 2})
            self.assertEqual([key.seed for key in rows.read(path)], [1, 2])


class Command(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.python = self.folder / "python"
        self.python.write_text(RANKS)
        self.python.chmod(0o755)

    def measure(self, *arguments):
        line = [SCRIPTS / "measure", "training", "--model", "cnn", "--quick", "--ranks", "1", "--python", self.python,
                "--csv", self.folder / "rows.csv", *arguments]
        return subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def test_an_interrupted_table_trains_what_is_missing(self):
        first = self.measure("--ways", "bf16", "--seeds", "2")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("[4/4] bf16, seed 2", first.stderr)
        again = self.measure("--ways", "bf16;int4", "--seeds", "3")
        self.assertIn("[5/5]", again.stderr)
        self.assertNotIn("bf16, seed 1", again.stderr)
        self.assertEqual(self.measure("--ways", "bf16;int4", "--seeds", "3").stderr, "")

    def test_the_table_says_what_is_equivalent(self):
        self.measure("--ways", "bf16;int4", "--seeds", "4")
        lines = self.measure("--table").stdout.splitlines()
        self.assertEqual([line.split(" | ")[0] for line in lines[2:]], ["| exact", "| bf16", "| int4"])
        self.assertIn("| yes (", lines[3])
        self.assertIn("| 2.0 |", lines[3])
        self.assertIn("+0.5000 ± 0.0000 | no (1)", lines[4])

    def test_two_seeds_have_no_verdict(self):
        self.measure("--ways", "bf16", "--seeds", "2")
        self.assertIn("± 0.0000 | - | ", self.measure("--table").stdout.splitlines()[3])

    def test_ranks_that_fail_end_it_with_an_error(self):
        self.python.write_text("#!/bin/sh\nexit 3\n")
        failed = self.measure("--seeds", "1")
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("ended with status", failed.stderr)

    def test_an_unknown_way_is_refused(self):
        refused = self.measure("--ways", "3:4")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("'3:4'", refused.stderr)


class Ways(unittest.TestCase):
    def test_names_say_what_is_done(self):
        for name, way in WAYS.items():
            self.assertEqual("feedback" in name, way.feedback, name)
            self.assertEqual("exempt" in name, way.exempt, name)
            self.assertEqual("warm-up" in name or "PowerSGD" in name, way.warmup > 0, name)
        self.assertEqual(WAYS[DENSE].codec, "exact")


unittest.main()
