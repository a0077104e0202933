"""scripts/check include-circles on small projects: what is a circle, what is none.

usage: include_circles_test.py PATH-OF-include-circles
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)


def look(files, *options):
    """Exit status and output for a project of these files: path -> included paths."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, includes in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("".join(f'#include "{path}"\n' for path in includes))
        subprocess.run(["git", "init", "-q", folder], check=True)
        run = subprocess.run([PROGRAM, "--root", folder, *options], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout


class IncludeCircles(unittest.TestCase):
    def test_a_chain_is_no_circle(self):
        self.assertEqual(look({"src/base/a.hpp": [], "src/api/b.hpp": ["base/a.hpp"], "src/api/b.cpp": ["api/b.hpp"]}),
                         (0, ""))

    def test_a_header_and_its_source_are_one_room(self):
        status, said = look({"src/base/a.hpp": [], "src/base/a.cpp": ["base/b.hpp"], "src/base/b.hpp": ["base/a.hpp"]})
        self.assertEqual(status, 1)
        self.assertIn("a circle of 2 files:\n  src/base/a -> src/base/b\n  src/base/b -> src/base/a\n", said)

    def test_variants_for_gpus_and_processors_are_the_same_room(self):
        status, said = look({"compress/a.hpp": ["compress/b.hpp"], "compress/b.hpp": [], "compress/b_cuda.cu": ["compress/a.hpp"]})
        self.assertEqual(status, 1)
        self.assertIn("compress/b -> compress/a", said)

    def test_folders_side_by_side_make_a_circle_without_a_circle_of_files(self):
        status, said = look({"src/api/a/a.hpp": ["api/b/b.hpp"], "src/api/b/b.hpp": [],
                             "src/api/b/c.hpp": ["api/a/d.hpp"], "src/api/a/d.hpp": []})
        self.assertEqual(status, 1)
        self.assertEqual(said, "a circle of 2 folders:\n  src/api/a -> src/api/b\n  src/api/b -> src/api/a\n")

    def test_a_folders_table_of_what_is_below_it_is_no_circle(self):
        self.assertEqual(look({"collectives/exchange/table.hpp": ["collectives/exchange/ring/ring.hpp"],
                               "collectives/exchange/ring/ring.hpp": ["collectives/exchange/rounds.hpp"],
                               "collectives/exchange/rounds.hpp": []}), (0, ""))

    def test_the_drawing_names_folders_files_lines_and_circles(self):
        status, said = look({"src/base/a.hpp": ["base/b.hpp"], "src/base/b.hpp": ["base/a.hpp"], "src/api/c.hpp": ["base/a.hpp"]},
                            "--dot")
        self.assertEqual(status, 0)
        self.assertIn('"src/base" [label="src/base\\n2 files, 2 lines\\n2 in circles"', said)
        self.assertIn('"src/api" -> "src/base";', said)


if __name__ == "__main__":
    unittest.main()
