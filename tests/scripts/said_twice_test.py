"""scripts/check said-twice on small projects: which sentences are found.

usage: said_twice_test.py PATH-OF-said-twice
"""
import sys
import unittest

import made_project

PROGRAM = sys.argv.pop(1)
SENTENCE = "A message carries the lengths of its blocks and only those bytes."


def look(files):
    return made_project.look(PROGRAM, files)


class SaidTwice(unittest.TestCase):
    def test_a_sentence_in_two_pages_is_found_however_it_is_broken_and_marked(self):
        status, said = look({"a.md": f"One. {SENTENCE} Two.", "docs/b.md": SENTENCE.replace(" of ", "\nof ").replace("blocks", "[**blocks**](c.md)")})
        self.assertEqual((status, said), (1, f"a.md, docs/b.md: {SENTENCE.lower()}\n"))

    def test_captions_of_one_page_may_be_alike(self):
        self.assertEqual(look({"a.md": f"{SENTENCE}\n\n- {SENTENCE}\n"}), (0, ""))

    def test_code_tables_short_sentences_and_history_do_not_count(self):
        self.assertEqual(look({"a.md": f"See below.\n\n```\n{SENTENCE}\n```\n{SENTENCE}", "b.md": "See below.",
                               "d.md": f"| {SENTENCE} |\n", "CHANGELOG.md": SENTENCE, "docs/decisions/1.md": SENTENCE, "tests/c.md": SENTENCE}), (0, ""))


unittest.main()
