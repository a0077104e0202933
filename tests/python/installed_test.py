# installed_test.py - the installed package finds the library that was installed with it.
import os
import unittest
from pathlib import Path

from support import WORLD, gradcoll, main, numpy

from gradcoll import _capi


class Installed(unittest.TestCase):
    def test_package_and_library_are_those_of_one_tree(self):
        self.assertNotIn("GRADCOLL_LIBRARY", os.environ)
        package = Path(gradcoll.__file__).resolve().parent
        self.assertEqual(str(package.parent), os.environ["PYTHONPATH"])
        self.assertIn(Path(_capi.lib._name).parent, [parent / part for parent in package.parents for part in libs(parent)])
        self.assertTrue((package / "py.typed").exists())

    def test_it_sums(self):
        numpy.testing.assert_array_equal(gradcoll.allreduce(numpy.ones(4)), numpy.full(4, float(WORLD.size)))


def libs(prefix):
    return [path.parent.relative_to(prefix) for path in prefix.glob("lib*/**/libgradcoll.so.0")]


if __name__ == "__main__":
    main()
