"""scripts/comment-sentences on small projects: which comments are found.

usage: comment_sentences_test.py PATH-OF-comment-sentences
"""
import sys
import unittest

import made_project

PROGRAM = sys.argv.pop(1)

SENTENCES = (
    "Returns the number of bytes that were sent.",
    "Waits until all have met. Errors: transport.",
    "Blocks the caller.",
    "Collective. Takes the settings of rank 0.",
    "Errors: invalid_argument if the text is empty; those of parse().",
    "Ranks that share a host form a group.",
    "Where layers have no name, the call means all of them.",
    "In place the input is not used.",
    "The same rank sends both.",
    "What lies behind those bytes has no meaning.",
    "Parts that travel in one message must be in one place: the receiver looks there.",
)
FRAGMENTS = (
    "Of a call that its codec does not pay for, which was found out for this size alone.",
    "The same of AgentSums, which comes before",
    "As in an allgather.",
    "Whether the peer has answered.",
    "How many ranks have a part.",
    "What a rank wants of a new context.",
    "Where a message belongs of which some bytes have left.",
    "Blocks of a vector.",
    "Those that are late.",
    "Collective. One part of all intervals.",
    "In the order of forward. Errors: io.",
    "Null: no spans. It outlives the engine.",
)


def look(lines):
    return made_project.look(PROGRAM, {"packaging/a.hpp": "".join(line + "\n" for line in lines)})


class CommentSentences(unittest.TestCase):
    def test_sentences_pass(self):
        for sentence in SENTENCES:
            self.assertEqual(look([f"/// {sentence}", "int a();"]), (0, ""))

    def test_fragments_are_found(self):
        for fragment in FRAGMENTS:
            status, said = look(["", f"    /// {fragment}", "    int a();"])
            self.assertEqual(status, 1, fragment)
            self.assertTrue(said.startswith("packaging/a.hpp:2: "), said)

    def test_a_sentence_may_go_on_in_the_next_line(self):
        self.assertEqual(look(["/// The number of bytes that", "/// were sent is returned.", "int a();"]), (0, ""))

    def test_each_block_is_looked_at(self):
        self.assertEqual(look(["/// Returns a.", "int a();", "/// One part.", "int b();", "/// Of b.", "int c();"]),
                         (1, "packaging/a.hpp:3: One part.\npackaging/a.hpp:5: Of b.\n"))

    def test_trailing_and_plain_comments_are_not(self):
        self.assertEqual(look(["int a;  ///< of a call", "        ///< that is long", "// of a call", "int b;"]), (0, ""))


unittest.main()
