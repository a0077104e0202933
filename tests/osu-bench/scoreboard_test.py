#!/usr/bin/python3
"""What scripts/measure scoreboard makes of stored rows, without an MPI: arithmetic, verdicts, tables, what a resumed run still measures.

usage: scoreboard_test.py SCRIPTS_FOLDER [ARGUMENTS OF UNITTEST]
"""
import csv
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
SCRIPTS = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "measure_parts")]

from scoreboard_parts import arithmetic, rows, runs, tables, verdict  # noqa: E402

RECORDED = Path(__file__).resolve().parent / "recorded"


def run_of(family, number, ratio, ours=10.0, peer=20.0, size=4, codec="exact"):
    row = {"codec": codec, "size_bytes": str(size), "ratio": str(ratio), "ratio_q1": str(ratio - 0.1), "ratio_q3": str(ratio + 0.1),
           "avg_us": str(ours), "peer_avg_us": str(peer)}
    return arithmetic.Run(family, 2, number, (row,))


class Arithmetic(unittest.TestCase):
    def test_rounds_give_their_median_and_their_widest_quartiles(self):
        point, = arithmetic.same_mpi([run_of("openmpi", number, ratio) for number, ratio in enumerate((3, 1, 2))], "openmpi", 2)
        self.assertEqual(point.ratio, 2)
        self.assertAlmostEqual(point.low, 0.9)
        self.assertAlmostEqual(point.high, 3.1)

    def test_mpis_are_compared_within_a_round(self):
        found = [run_of("openmpi", 0, 2, ours=10), run_of("mpich", 0, 2, peer=40), run_of("openmpi", 1, 2, ours=10),
                 run_of("mpich", 2, 2, peer=1000)]
        self.assertEqual(arithmetic.across(found, "openmpi", "mpich", 2), [arithmetic.Point(4, 4.0, 4.0, 4.0)])

    def test_a_codec_is_compared_with_exact_of_its_own_run(self):
        both = arithmetic.Run("openmpi", 2, 0, run_of("openmpi", 0, 1, ours=30).rows + run_of("openmpi", 0, 1, ours=10, codec="2:4").rows)
        self.assertEqual([point.ratio for point in arithmetic.against_exact([both], "openmpi", 2, "2:4")], [3.0])

    def test_summary_is_geometric_and_names_losses(self):
        summary = arithmetic.summary_of([arithmetic.Point(4, 2.0, 2, 2), arithmetic.Point(8, 0.5, 0.5, 0.5)])
        self.assertAlmostEqual(summary.geometric_mean, 1)
        self.assertEqual(summary.worst.size, 8)
        self.assertEqual([point.size for point in summary.losses], [8])

    def test_a_torn_row_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "openmpi-2-0.csv"
            path.write_text("codec,size_bytes\nexact,4\nexact,6", encoding="utf-8")
            self.assertEqual([row["size_bytes"] for row in arithmetic.read_rows(path)], ["4"])


class Verdicts(unittest.TestCase):
    def find(self, word):
        found = [one for one in verdict.verdicts(RECORDED) if word in one.what]
        self.assertEqual(len(found), 1, word)
        return found[0]

    def test_a_mean_above_the_aim_is_not_enough_where_a_size_loses(self):
        fast = [run_of("openmpi", 0, ratio, size=size) for size, ratio in ((4, 9), (8, 0.9))]
        rows = tuple(row for run in fast for row in run.rows)
        both = [arithmetic.Run("openmpi", ranks, 0, rows) for ranks in (2, 4)]
        judged = verdict.host_verdict(both, "openmpi", 2.0)
        self.assertFalse(judged.met)
        self.assertIn("worst 0.90 at 8 B", judged.measured)
        self.assertTrue(verdict.host_verdict([arithmetic.Run("openmpi", ranks, 0, fast[0].rows) for ranks in (2, 4)], "openmpi", 2.0).met)

    def test_the_worst_row_of_the_lab_decides(self):
        self.assertTrue(self.find("lopsided, 1-64 MiB: against Open MPI").met)
        self.assertTrue(self.find("lopsided, 1-64 MiB: against MPICH").met)
        self.assertTrue(self.find("wire's limit").met)
        thinned = self.find("2:4 fp32 against our exact")
        self.assertFalse(thinned.met)
        self.assertIn("worst 1.62 (pair, mpich, 16 MiB)", thinned.measured)

    def test_what_was_not_measured_is_neither_met_nor_missed(self):
        self.assertIsNone(self.find("bf16 cast against our exact").met)
        self.assertIsNone(self.find("predicted against measured").met)

    def test_warm_tests_are_counted_over_the_ranks(self):
        warm = self.find("warm call")
        self.assertTrue(warm.met)
        self.assertIn("6 of 6", warm.measured)

    def test_kernels_are_judged_by_their_worst_codec(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "kernels.md").write_text(
                "| codec | isa | encode | decode+sum |\n|---|---|---|---|\n"
                "| 2:4 | avx2 | 9.0 (1.20x) | 9.0 (1.60x) |\n| bf16 | avx2 | 8.0 (0.90x) | 9.0 (1.50x) |\n", encoding="utf-8")
            encode, decode, residual = verdict.kernel_verdicts(Path(folder))
        self.assertEqual((encode.met, decode.met, residual.met), (False, True, None))
        self.assertIn("0.90 (bf16), 1 of 2", encode.measured)


class Tables(unittest.TestCase):
    def printed(self):
        return subprocess.run([str(SCRIPTS / "measure"), "scoreboard", "--print", "--out", str(RECORDED)], check=True, capture_output=True, text=True).stdout

    def test_recorded_rows_are_printed_without_running_anything(self):
        text = self.printed()
        self.assertIn("Load average before 0.5, after 2.2", text)
        self.assertIn("2 cores of a test.", text)
        for head in ("Open MPI, 2 ranks", "MPICH, 4 ranks", "ours(Open MPI) / MPICH, 2 ranks", "ours(MPICH) / Open MPI, 4 ranks"):
            self.assertIn(head, text)
        self.assertIn("| 64 MiB |", text)

    def test_ratios_are_those_of_the_recorded_rows(self):
        row = next(row for row in arithmetic.read_rows(RECORDED / "host/openmpi-2-0.csv") if row["size_bytes"] == "65536")
        line = next(line for line in self.printed().splitlines() if line.startswith("| 64 KiB |"))
        self.assertIn(f"{float(row['ratio']):.2f} ({float(row['ratio_q1']):.2f}-{float(row['ratio_q3']):.2f})", line)

    def test_only_what_is_between_the_markers_is_replaced(self):
        page = f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n"
        self.assertEqual(tables.put_between_markers(page, f"{tables.BEGIN}\nnew\n{tables.END}"),
                         f"before\n{tables.BEGIN}\nnew\n{tables.END}\nafter\n")
        with self.assertRaises(ValueError):
            tables.put_between_markers("no markers\n", "new")

    def test_the_page_has_the_markers(self):
        page = (SCRIPTS.parent / "docs/benchmarks.md").read_text(encoding="utf-8")
        self.assertEqual((page.count(tables.BEGIN), page.count(tables.END)), (1, 1))

    def test_the_files_beside_the_page_have_the_heads_of_those_that_are_written(self):
        for name, (head, _) in rows.FILES.items():
            with (SCRIPTS.parent / f"docs/benchmarks/{name}.csv").open(encoding="utf-8") as file:
                self.assertEqual(tuple(next(csv.reader(file))), head)

    def test_rows_are_written_with_the_recorded_ratios(self):
        recorded = next(row for row in arithmetic.read_rows(RECORDED / "host/openmpi-2-0.csv") if row["size_bytes"] == "65536")
        with tempfile.TemporaryDirectory() as folder:
            rows.write_all(RECORDED, Path(folder) / "benchmarks")
            written = {path.stem: arithmetic.read_rows(path) for path in (Path(folder) / "benchmarks").iterdir()}
        self.assertEqual(set(written), set(rows.FILES))
        row = next(row for row in written["scoreboard-same-mpi"] if (row["mpi"], row["ranks"], row["bytes"]) == ("openmpi", "2", "65536"))
        self.assertEqual((row["mpi_over_ours"], row["low"]), (f"{float(recorded['ratio']):.2f}", f"{float(recorded['ratio_q1']):.2f}"))
        self.assertEqual({(row["lab"], row["bytes"], row["way"]) for row in written["scoreboard-lab"]}, {("pair", "16777216", "tree"), ("pair", "16777216", "compressed")})
        self.assertEqual(written["scoreboard-peers"], [])

    def test_plots_are_drawn(self):
        try:
            from scoreboard_parts import plots
        except ImportError as error:
            self.skipTest(str(error))
        with tempfile.TemporaryDirectory() as folder:
            drawn = plots.draw_all(RECORDED, Path(folder))
            self.assertEqual([path.name for path in drawn], ["scoreboard-ratio.png", "scoreboard-busbw.png"])
            for path in drawn:
                self.assertEqual(path.read_bytes()[1:4], b"PNG")


class Resuming(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        build = self.folder / "build"
        (build / "libexec/gradcoll").mkdir(parents=True)
        (build / "libexec/gradcoll/gc_bench-allreduce").write_text("", encoding="utf-8")
        (build / "src/api").mkdir(parents=True)
        (build / "src/api/libgradcoll.so").write_text("one", encoding="utf-8")
        (build / "launcher").write_text("launcher='no_such_launcher'\nfamily='openmpi'\nyield_library=''\n", encoding="utf-8")
        self.build = build

    def board(self):
        return runs.Board(self.folder / "results", [self.build], runs.QUICK)

    def commands_for(self, path, sizes, codecs):
        with mock.patch.object(runs, "run", return_value=(0, "")) as run:
            runs.allreduce(self.board(), "openmpi", path, 2, sizes, codecs)
        return [call.args[0] for call in run.call_args_list]

    def test_only_sizes_that_a_codec_lacks_are_measured(self):
        path = self.folder / "openmpi-2-0.csv"
        path.write_text("codec,size_bytes\nexact,4\nexact,8\n2:4,4\n2:4,", encoding="utf-8")
        command, = self.commands_for(path, (4, 8), ("exact", "2:4"))
        self.assertEqual(command[command.index("-m") + 1], "8:8")
        self.assertEqual(self.commands_for(path, (4,), ("exact", "2:4")), [])

    def test_results_of_another_library_are_removed(self):
        self.board().begin(fresh=False)
        kept = self.board().part("host") / "openmpi-2-0.csv"
        kept.write_text("x\n", encoding="utf-8")
        self.board().begin(fresh=False)
        self.assertTrue(kept.exists())
        (self.build / "src/api/libgradcoll.so").write_text("two", encoding="utf-8")
        self.board().begin(fresh=False)
        self.assertFalse(kept.exists())

    def test_a_build_without_its_yield_library_is_left_out(self):
        (self.build / "launcher").write_text("family='mpich'\nyield_library='/nowhere/yield.so'\n", encoding="utf-8")
        board = self.board()
        self.assertEqual(board.builds, {})
        self.assertIn("/nowhere/yield.so", board.lacking[0])

    def test_the_order_of_the_mpis_is_swapped_every_round(self):
        board = self.board()
        board.builds = {"openmpi": self.build, "mpich": self.build}
        board.extent = runs.FULL
        order = []
        runs.in_turns(board, self.folder, lambda family, path, ranks: order.append(path.stem) or True)
        self.assertEqual(order[:6], ["openmpi-2-0", "mpich-2-0", "openmpi-4-0", "mpich-4-0", "mpich-2-1", "openmpi-2-1"])


if __name__ == "__main__":
    unittest.main()
