"""What scripts that run for minutes show of how far they are.

usage: progress_test.py SCRIPTS_FOLDER
"""
import io
import os
import pty
import select
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
from shared_parts.progress import Progress, clear_line, time_text  # noqa: E402


class Clock:
    """Ten seconds later whenever it is asked."""

    def __init__(self):
        self.now = -10

    def __call__(self):
        self.now += 10
        return self.now


def three_parts(stream, **arguments):
    progress = Progress(3, stream=stream, clock=Clock(), **arguments)
    for part in ("one", "two", "three"):
        progress.begin(part)
    progress.end()


class ProgressTest(unittest.TestCase):
    def test_a_terminal_has_one_line_that_is_gone_at_the_end(self):
        master, slave = pty.openpty()
        with os.fdopen(slave, "w") as terminal:
            three_parts(terminal)
            text = ""
            while select.select([master], [], [], 0.3)[0]:
                text += os.read(master, 4096).decode()
        os.close(master)
        self.assertEqual(text, "\r\033[K[1/3] one\r\033[K[2/3] two, about 20 s left\r\033[K[3/3] three, about 10 s left\r\033[K")

    def test_a_line_is_cleared_on_a_terminal_and_nothing_goes_to_a_file(self):
        master, slave = pty.openpty()
        with os.fdopen(slave, "w") as terminal:
            clear_line(terminal)
            self.assertEqual(os.read(master, 4096), b"\r\033[K")
        os.close(master)
        file = io.StringIO()
        clear_line(file)
        self.assertEqual(file.getvalue(), "")

    def test_files_have_a_line_a_part_if_they_are_to_have_any(self):
        none, some = io.StringIO(), io.StringIO()
        three_parts(none)
        three_parts(some, elsewhere=True)
        self.assertEqual(none.getvalue(), "")
        self.assertEqual(some.getvalue(), "[1/3] one\n[2/3] two, about 20 s left\n[3/3] three, about 10 s left\n")

    def test_parts_may_say_how_much_they_are(self):
        stream = io.StringIO()
        progress = Progress(100, elsewhere=True, stream=stream, clock=Clock())
        for work in (20, 70, 10):
            progress.begin("part", work)
        self.assertEqual(stream.getvalue(), "[0 %] part\n[20 %] part, about 40 s left\n[90 %] part, about 2 s left\n")

    def test_long_times_are_rounded(self):
        self.assertEqual([time_text(s) for s in (0.2, 89, 91, 3600, 7200)], ["1 s", "89 s", "2 min", "60 min", "2.0 h"])


unittest.main()
