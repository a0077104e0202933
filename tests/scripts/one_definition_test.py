"""scripts/check one-definition on small projects: which types of one name are found.

usage: one_definition_test.py PATH-OF-one-definition
"""
import sys
import unittest

import made_project

PROGRAM = sys.argv.pop(1)


def within(namespace, text):
    return f"namespace {namespace} {{\n{text}\n}}  // namespace {namespace}\n"


def look(files):
    return made_project.look(PROGRAM, files)


class OneDefinition(unittest.TestCase):
    def test_a_name_in_two_files_of_one_namespace_is_found(self):
        self.assertEqual(look({"src/api/a.hpp": within("lib", "struct Route {\n    int x;\n};"),
                               "src/transport/b.hpp": within("lib", "struct Route final : Base {\n};")}),
                         (1, "lib::Route: src/api/a.hpp, src/transport/b.hpp\n"))

    def test_an_enumeration_on_one_line_is_a_definition(self):
        self.assertEqual(look({"src/a.hpp": within("lib", "enum class Kind : char { a, b };"),
                               "src/b.cpp": within("lib", "class Kind {\n};")})[0], 1)

    def test_other_namespaces_have_names_of_their_own(self):
        self.assertEqual(look({"src/a.hpp": within("lib", "struct Job {\n};"),
                               "compress/b.hpp": within("lib::nm", "struct Job {\n};"),
                               "src/c.cpp": within("lib", "namespace {\nstruct Job {\n};\n}  // namespace")}), (0, ""))

    def test_a_declaration_and_a_nested_type_define_nothing_here(self):
        self.assertEqual(look({"src/a.hpp": within("lib", "struct Job {\n};"),
                               "src/b.hpp": within("lib", "struct Job;\nclass Other {\n    struct Job {};\n};"),
                               "src/c.cpp": within("lib", "class Other::Job {\n};\nstruct Job make();")}), (0, ""))


if __name__ == "__main__":
    unittest.main()
