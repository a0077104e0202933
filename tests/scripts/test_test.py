"""What scripts/test runs, where building, packing and CTest are programs that note how they were called.

usage: test_test.py SCRIPTS_FOLDER
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(sys.argv.pop(1))
NOTE = '#!/bin/sh\necho "$(basename "$0") $*" >>"$NOTES"\n'
# What the part with these first words ends with.
ENDS = 'case "$(basename "$0") $*" in "ctest --preset mpich"*) exit 8 ;; "check packages") exit 77 ;; esac\n'


class Test(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        (self.folder / "scripts").mkdir()
        shutil.copy(SCRIPTS / "test", self.folder / "scripts")
        for name in ("scripts/build", "scripts/package", "scripts/check", "ctest"):
            (self.folder / name).write_text(NOTE + ENDS)
            (self.folder / name).chmod(0o755)

    def run_test(self, *arguments):
        """Status, output, and what was called."""
        notes = self.folder / "notes"
        notes.touch()
        environment = dict(os.environ, NOTES=str(notes), PATH=f"{self.folder}:{os.environ['PATH']}")
        done = subprocess.run([self.folder / "scripts/test", *arguments], cwd="/", env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr, notes.read_text().splitlines()

    def test_a_preset_and_arguments_of_ctest(self):
        status, _, called = self.run_test("asan", "-L", "unit")
        self.assertEqual((status, called[0]), (0, "build asan"))
        self.assertRegex(called[1], r"^ctest --preset asan --parallel \d+ -L unit$")

    def test_without_a_preset_it_is_release(self):
        _, _, called = self.run_test("-R", "Partition")
        self.assertRegex(called[1], r"^ctest --preset release --parallel \d+ -R Partition$")

    def test_quick_is_a_part_of_release(self):
        _, _, called = self.run_test("quick", "--stop-on-failure")
        self.assertEqual(called[0], "build release")
        self.assertRegex(called[1], r"^ctest --preset release --parallel \d+ -L \S+ -E \S+ --stop-on-failure$")
        words = called[1].split()
        labels, left_out = words[words.index("-L") + 1], words[words.index("-E") + 1]
        self.assertEqual([bool(re.search(labels, name)) for name in ("unit", "core", "shim", "mpi", "lab")], [True, True, True, False, False])
        self.assertEqual([bool(re.search(left_out, name)) for name in ("compress.codec_contract", "shim.cost.c", "compress.codec_id")],
                         [True, True, False])

    def test_most_leaves_long_ones_out(self):
        for words, preset in (([], "release"), (["mpich"], "mpich")):
            _, _, called = self.run_test("--most", *words, "-L", "mpi")
            found = re.search(rf"^ctest --preset {preset} --parallel \d+ -E (\S+) -L mpi$", "\n".join(called), re.MULTILINE)
            self.assertEqual([bool(re.search(found[1], name)) for name in ("soak.exact.np3", "preload.comms.np3", "preload.types.np3", "call.faults")],
                             [True, True, False, False])

    def test_all_goes_on_after_a_failure_and_sums_up(self):
        status, said, called = self.run_test("all")
        self.assertEqual(status, 1)
        presets = [call.split()[2] for call in called if call.startswith("ctest")]
        self.assertEqual(presets, ["release", "extend", "mpich", "asan", "tsan"])
        self.assertEqual(called[-4:], ["package ", "check packages", "check wheels", "check mpi-wheels"])
        summary = re.findall(r"^scripts/(.*?)  +(passed|left out|FAILED) +\d+ s$", said, re.MULTILINE)
        self.assertEqual(len(summary), 9)
        self.assertEqual([line for line in summary if line[1] != "passed"], [("test mpich", "FAILED"), ("check packages", "left out")])

    def test_other_words_are_refused(self):
        for arguments in (["quik"], ["all", "-L", "unit"], ["--most", "all"], ["--most", "quick"]):
            status, said, called = self.run_test(*arguments)
            self.assertEqual((status, called), (2, []))
            self.assertIn("scripts/test: ", said)


unittest.main()
