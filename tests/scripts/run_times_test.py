"""What scripts/run says of times: on a quiet machine, on a busy one, and where turns differ.

usage: run_times_test.py SCRIPTS_FOLDER
"""
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
SCRIPTS = Path(sys.argv.pop(1))
sys.path.insert(0, str(SCRIPTS))
from shared_parts.busy_cores import busy_between, busy_cores, counters  # noqa: E402


def script(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


times = script(SCRIPTS / "run_parts/times")
progress = script(SCRIPTS / "shared_parts/build_progress")
NAMES = ["MPI_Allreduce", "exact"]


def rows(*seconds):
    return [{"loss": "0.5", "test_accuracy": "0.85", "wire_bytes": "" if place % 2 == 0 else "2097152", "sum_seconds": str(one)}
            for place, one in enumerate(seconds)]


class TimesTest(unittest.TestCase):
    def test_ratios_are_of_one_turn_and_have_their_spread(self):
        text = times.report(rows(10, 5, 12, 5, 11, 5), [0.0, 0.1], NAMES, 2)
        self.assertRegex(text, r"(?m)^MPI_Allreduce +0\.5000 +85\.00 % +- +11\.00 \(10\.00-12\.00\) +1\.00 \(1\.00-1\.00\)$")
        self.assertRegex(text, r"(?m)^exact +0\.5000 +85\.00 % +2\.0 +5\.00 \(5\.00-5\.00\) +2\.20 \(2\.00-2\.40\)$")
        self.assertIn("other programs used at most 0.1 of the 2 cores", text)

    def test_a_busy_machine_has_no_ratios(self):
        text = times.report(rows(56, 1, 56, 1), [0.0, 1.9, 0.1], NAMES, 2)
        self.assertRegex(text, r"(?m)^exact .* 1\.00 \(1\.00-1\.00\) +-$")
        self.assertIn("Other programs used up to 1.9 of the 2 cores", text)

    def test_turns_that_differ_have_no_ratios(self):
        text = times.report(rows(10, 5, 30, 5), [0.0], NAMES, 2)
        self.assertRegex(text, r"(?m)^exact .* -$")
        self.assertIn("differ by a factor of up to 3.0", text)

    def test_one_turn_has_no_spread(self):
        text = times.report(rows(10, 0), [0.0], NAMES, 2)
        self.assertRegex(text, r"(?m)^exact .* 0\.00 +10000\.00$")
        self.assertIn("One turn", text)

    def test_turns_are_whole(self):
        with self.assertRaises(ValueError):
            times.report(rows(1, 2, 3), [0.0], NAMES, 2)

    def test_the_table_is_read_from_files(self):
        with tempfile.TemporaryDirectory() as folder:
            table, loads = Path(folder, "rows.csv"), Path(folder, "loads")
            table.write_text("loss,test_accuracy,wire_bytes,sum_seconds\n0.5,0.8,,4.0\n0.5,0.8,1048576,2.0\n", encoding="utf-8")
            loads.write_text("0.00\n0.00\n0.00\n", encoding="ascii")
            done = subprocess.run([SCRIPTS / "run_parts/times", "table", table, loads, *NAMES], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"(?m)^exact .* 1\.0 +2\.00 +2\.00$")


class BusyCoresTest(unittest.TestCase):
    BEFORE = "cpu 1 1 1 1\ncpu0 100 0 0 900 0 0 0 0 0 0\ncpu1 0 0 0 1000 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0 0 0\n"
    AFTER = "cpu 1 1 1 1\ncpu0 150 0 0 940 10 0 0 0 0 0\ncpu1 0 0 0 1050 0 0 0 50 0 0\ncpu2 100 0 0 0 0 0 0 0 0 0\n"

    def test_own_cores_count_and_stolen_time_does(self):
        before, after = (counters(text, {0, 1}) for text in (self.BEFORE, self.AFTER))
        self.assertAlmostEqual(busy_between(before, after), 1.0)

    def test_a_program_at_work_is_seen(self):
        spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            self.assertGreater(busy_cores(0.5), 0.3)
        finally:
            spinner.kill()
            spinner.wait()


class BuildProgressTest(unittest.TestCase):
    def test_steps_share_a_line_and_all_else_is_kept(self):
        clock = iter([0.0, 10.0]).__next__
        stream = io.StringIO()
        progress.show(["[1/4] Building a\n", "a.cpp:1: warning: odd\n", "[2/4] Building b\n"], stream, clock)
        self.assertEqual(stream.getvalue(), "\r\033[K[1/4]: Building aa.cpp:1: warning: odd\n\r\033[K[2/4], about 10 s left: Building b")

    def test_percents_of_make_are_known(self):
        self.assertEqual(progress.step_line(progress.STEP.match("[ 50%] Building c"), 30), "[50 %], about 30 s left: Building c")


if __name__ == "__main__":
    unittest.main()
