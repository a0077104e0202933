# installed_test.py - the installed package finds the library that was installed with it.
import os
import unittest
from pathlib import Path

from support import WORLD, gradcoll, main, numpy

from gradcoll import _capi


class Installed(unittest.TestCase):
    def test_package_and_library_are_those_of_one_tree(self):
        self.assertNotIn("GRADCOLL_LIBRARY", os.environ)
        prefix = Path(os.environ["GRADCOLL_TEST_PREFIX"]).resolve()
        package = Path(gradcoll.__file__).resolve().parent
        self.assertIn(prefix, package.parents)
        self.assertIn(prefix, Path(_capi.lib._name).resolve().parents)
        self.assertTrue((package / "py.typed").exists())

    def test_it_sums(self):
        numpy.testing.assert_array_equal(gradcoll.allreduce(numpy.ones(4)), numpy.full(4, float(WORLD.size)))


if __name__ == "__main__":
    main()
