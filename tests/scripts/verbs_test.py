"""What scripts/GROUP NAME does, on a made-up group.

usage: verbs_test.py SCRIPTS_FOLDER
"""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(sys.argv.pop(1))
FRONT = """#!/usr/bin/env python3
import sys

sys.dont_write_bytecode = True

from shared_parts import verbs  # noqa: E402

sys.exit(verbs.front("count", "way to count", "Counts.\\n"))
"""
FILES = {
    "count": FRONT,
    "count_parts/words": '#!/bin/sh\n# Counts words.\nprintf "[%s]" "$#" "$@"\nexit 7\n',
    "count_parts/by-line": '#!/usr/bin/env python3\n"""Counts lines.\n\nMore of it."""\nprint(input())\n',
}


class Verbs(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        shutil.copytree(SCRIPTS / "shared_parts", self.folder / "shared_parts", ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "count_parts").mkdir()
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        (self.folder / "count_parts/shared.py").write_text('"""No script."""\n')

    def count(self, *arguments, **more):
        done = subprocess.run([self.folder / "count", *arguments], cwd="/", capture_output=True, text=True, check=False, **more)
        return done.returncode, done.stdout, done.stderr

    def test_arguments_and_exit_status_pass_through(self):
        self.assertEqual(self.count("words", "a b", "--help", ""), (7, "[3][a b][--help][]", ""))

    def test_a_script_has_its_own_interpreter_and_the_standard_input(self):
        self.assertEqual(self.count("by-line", input="two words\n"), (0, "two words\n", ""))

    def test_help_lists_the_scripts_with_what_they_say_first(self):
        listed = "Counts.\n\n  by-line  Counts lines.\n  words    Counts words.\n"
        self.assertEqual(self.count("--help"), (0, listed, ""))
        self.assertEqual(self.count(), (2, "", listed))

    def test_an_unknown_name_is_refused_with_those_that_there_are(self):
        for name in ("letters", "shared.py", "../count"):
            self.assertEqual(self.count(name), (2, "", f"scripts/count: no way to count is called '{name}': by-line, words\n"))


unittest.main()
