"""scripts/check page-blocks on small projects: which blocks and rows are found.

usage: page_blocks_test.py PATH-OF-page-blocks
"""
import sys
import unittest

import made_project

PROGRAM = sys.argv.pop(1)


def look(text):
    return made_project.look(PROGRAM, {"docs/a.md": text})


class PageBlocks(unittest.TestCase):
    def test_lines_that_were_joined_are_found(self):
        status, said = look("```python\nimport gradcoll for x in range(3): print(x)\n```\n")
        self.assertEqual((status, said), (1, "docs/a.md: invalid syntax: import gradcoll for x in range(3): print(x)\n"))
        status, said = look("```sh\nfor x in 1 2; do\necho\n```\n")
        self.assertEqual(status, 1)
        self.assertIn("docs/a.md: bash: ", said)

    def test_a_row_that_was_broken_is_found(self):
        self.assertEqual(look("| a | b |\n|---|---|\n| c | d\ne |\n"), (1, "docs/a.md: a row without an end: | c | d\n"))

    def test_good_blocks_and_blocks_of_nothing_pass(self):
        good = "```python\nfor x in range(3):\n    print(x)\n```\n| a |\n|---|\n```sh\necho a | cat\n```\n"
        self.assertEqual(look(good + "```\n| not a table\nimport a import b\n```\n"), (0, ""))


unittest.main()
