# library_test.py - which library is loaded, and that its C API is what the package believes it to be.
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import MPI, gradcoll, main

from gradcoll import _builds, _capi, _library

HEADERS = Path(os.environ["GRADCOLL_TEST_HEADERS"])
FOREIGN = os.environ["GRADCOLL_TEST_FOREIGN_MPI"]

# Handles are one type: all of an MPI's handles are alike.
C_TYPES = {
    "int": ctypes.c_int,
    "double": ctypes.c_double,
    "longlong": ctypes.c_longlong,
    "size_t": ctypes.c_size_t,
    "MPI_Count": ctypes.c_longlong,
    "GC_Tree_format": ctypes.c_int,
    "GC_Request": ctypes.c_void_p,
    "GC_Residual": ctypes.c_void_p,
    "GC_Engine": ctypes.c_void_p,
    "GC_Handle": ctypes.c_void_p,
    "GC_Mover": ctypes.c_void_p,
    "GC_Stats": _capi.GC_Stats,
    "GC_Build": _capi.GC_Build,
    **{name: getattr(_capi, name) for name in ("GC_Mover_operator", "GC_Mover_tensor", "GC_Mover_stats")},
    **{f"MPI_{kind}": getattr(_capi, kind) for kind in ("Comm", "Datatype", "Info", "Op")},
}


def ctypes_of(declared):
    """What ctypes calls a parameter or result such as `const char* key` or `GC_Request requests[]`."""
    declared = declared.replace("const", "").replace("[]", "*").replace("long long", "longlong")
    stars = declared.count("*")
    base = declared.replace("*", " ").split()[0]
    if base == "void":
        return ctypes.POINTER(ctypes.c_void_p) if stars > 1 else ctypes.c_void_p
    if base == "char":
        return ctypes.c_char_p
    found = C_TYPES[base]
    return ctypes.POINTER(found) if stars else found


def declarations():
    text = "\n".join(path.read_text() for path in HEADERS.glob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for result, name, arguments in re.findall(r"^(\w+) (GC_\w+)\(([^)]*)\);", text, flags=re.MULTILINE):
        yield name, result, [] if arguments.strip() == "void" else [part.strip() for part in arguments.split(",")]


class Prototypes(unittest.TestCase):
    def test_every_prototype_is_what_the_header_declares(self):
        declared = {name: (result, arguments) for name, result, arguments in declarations()}
        self.assertGreater(len(declared), 30)
        for name, (result, arguments) in _capi.PROTOTYPES.items():
            with self.subTest(function=name):
                self.assertIn(name, declared)
                self.assertEqual(ctypes_of(declared[name][0]), result)
                self.assertEqual([ctypes_of(argument) for argument in declared[name][1]], list(arguments))

    def test_the_statistics_have_the_fields_of_the_header(self):
        text = re.sub(r"/\*.*?\*/", "", (HEADERS / "inspect.h").read_text(), flags=re.DOTALL)
        body = re.search(r"typedef struct \{([^}]*)\} GC_Stats;", text).group(1)
        fields = [re.sub(r"\s+", " ", field).strip() for field in body.split(";") if field.strip()]
        kinds = {"unsigned long long": ctypes.c_ulonglong, "double": ctypes.c_double, "const char*": ctypes.c_char_p}
        expected = [(field.split()[-1], kinds[" ".join(field.split()[:-1])]) for field in fields]
        self.assertEqual(_capi.GC_Stats._fields_, expected)

    def test_the_facts_of_the_build_have_the_fields_of_the_header(self):
        text = re.sub(r"/\*.*?\*/", "", (HEADERS / "inspect.h").read_text(), flags=re.DOTALL)
        body = next(body for body in re.findall(r"typedef struct \{([^}]*)\}", text) if "mpi_built" in body)
        kinds = {"int": ctypes.c_int, "const char*": ctypes.c_char_p}
        found = re.findall(r"(int|const char\*) (\w+);", body)
        self.assertEqual(_capi.GC_Build._fields_, [(name, kinds[kind]) for kind, name in found])

    def test_structures_of_the_mover_have_the_fields_of_the_header(self):
        text = re.sub(r"/\*.*?\*/", "", (HEADERS / "mover.h").read_text(), flags=re.DOTALL)
        kinds = {"int": ctypes.c_int, "double": ctypes.c_double, "MPI_Count": ctypes.c_longlong,
                 "const char*": ctypes.c_char_p}
        for name in ("GC_Mover_operator", "GC_Mover_tensor", "GC_Mover_stats"):
            body = re.search(rf"typedef struct {name} \{{([^}}]*)\}} {name};", text).group(1)
            expected = []
            for line in re.sub(r"\s+", " ", body).split(";"):
                kind = next((kind for kind in kinds if line.strip().startswith(kind + " ")), None)
                if kind is not None:
                    names = line.strip()[len(kind):].split(",")
                    expected += [(field.strip(), kinds[kind]) for field in names]
            self.assertGreater(len(expected), 7)
            self.assertEqual(getattr(_capi, name)._fields_, expected)

    def test_tree_formats_are_in_the_order_of_the_header(self):
        text = (HEADERS / "inspect.h").read_text()
        found = dict(re.findall(r"GC_TREE_(\w+) = (\d+)", text))
        self.assertEqual({name.lower(): int(number) for name, number in found.items()},
                         {name: number for number, name in enumerate(_capi.TREE_FORMATS)})

    def test_the_package_has_the_version_of_the_library(self):
        self.assertEqual(gradcoll.__version__, ".".join(map(str, gradcoll.version())))


class Loading(unittest.TestCase):
    def refuses(self, path, *words):
        with self.assertRaises(ImportError) as caught:
            _library.load(path)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_a_file_that_is_not_there(self):
        self.refuses("/nonexistent/libgradcoll.so.0.1", "GRADCOLL_LIBRARY", "/nonexistent", "no such file")

    def test_a_file_that_is_no_library(self):
        self.refuses(__file__, "cannot be loaded")


    def test_a_library_of_something_else(self):
        import _ctypes  # an extension module, which is a shared library without MPI

        self.refuses(_ctypes.__file__, "not linked with an MPI")

    def test_a_library_for_another_mpi(self):
        self.refuses(FOREIGN, "was built for Foreign MPI 1.0", "but mpi4py uses", "MPI_C_COMPILER")

    def under(self, version):
        """What a program says that sums one array, where the MPI library tells that version."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("OMPI_", "PMI", "PRTE", "HYDRA"))}
        told = {"GRADCOLL_TEST_MPI_VERSION": version, "LD_PRELOAD": FOREIGN, "OMPI_MCA_mtl": "^ofi,psm,psm2",
                "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        program = "import numpy, gradcoll; gradcoll.attach(); print(gradcoll.allreduce(numpy.ones(3)).sum())"
        run = subprocess.run([sys.executable, "-c", program], env={**kept, **told}, capture_output=True, text=True)
        return run.stdout + run.stderr

    @unittest.skipUnless("Open MPI" in MPI.Get_library_version(), "texts of Open MPI's versions")
    def test_another_version_of_the_mpi_at_the_same_address(self):
        major = int(re.search(r"Open MPI v(\d+)", MPI.Get_library_version()).group(1))
        said = self.under(f"Open MPI v{major + 1}.0.11, package: a test")
        self.assertRegex(said, rf"ImportError: .* was built for Open MPI {major}\.\S+, but mpi4py uses Open MPI {major + 1}.0.11")
        self.assertIn("ImportError", self.under("MPICH Version:      4.0.2"))
        said = self.under(f"Open MPI v{major}.9.9, package: a test")  # which has the same ABI
        self.assertEqual(said.strip(), "3.0")

    def test_an_mpi_that_cannot_be_told_apart(self):
        said = self.under("Some MPI 1.0")
        self.assertIn("RuntimeWarning", said)
        self.assertRegex(said, r"was built for \S.*, but mpi4py uses 'Some MPI 1.0'")
        self.assertRegex(said, r"warn: the library was built for \S.*, but the program runs Some MPI 1.0")
        self.assertIn("3.0", said)

    def test_the_folder_of_the_library_will_do(self):
        self.assertTrue(_library.load(str(Path(os.environ["GRADCOLL_LIBRARY"]).parent)))


class SeveralBuilds(unittest.TestCase):
    """A package as scripts/wheel makes it."""

    def chosen(self, version, *loaded, abis=_builds.ABIS):
        abi = _builds.build_for(abis, version, lambda soname: soname in loaded)
        return abi and abi.folder

    def test_version_and_file_decide_together(self):
        self.assertEqual(self.chosen("Open MPI v4.1.4, package: Debian", "libmpi.so.40"), "openmpi4")
        self.assertEqual(self.chosen("Open MPI v5.0.11, package: a", "libmpi.so.40"), "openmpi5")
        self.assertEqual(self.chosen("MPICH Version:      5.0.2", "libmpi.so.12"), "mpich")
        self.assertEqual(self.chosen("Intel(R) MPI Library 2021.19 for Linux* OS", "libmpi.so.12"), "mpich")
        self.assertEqual(self.chosen("MPICH Version:      5.0.2", "libmpi_abi.so.1"), "abi1")

    def test_what_fits_in_one_respect_alone_does_not_fit(self):
        self.assertIsNone(self.chosen("Open MPI v6.0.0", "libmpi.so.40"))
        self.assertIsNone(self.chosen("MPICH Version:      4.0.2", "libmpich.so.12"))  # Debian's
        without_5 = [abi for abi in _builds.ABIS if abi.folder != "openmpi5"]
        self.assertIsNone(self.chosen("Open MPI v5.0.11", "libmpi.so.40", abis=without_5))

    def imported(self, folders, before=""):
        """What a program prints whose package has those builds: its library's folder and a sum, or how the import fails."""
        with tempfile.TemporaryDirectory() as place:
            package = Path(place) / "gradcoll"
            shutil.copytree(Path(gradcoll.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
            for folder in folders:
                (package / "builds" / folder).mkdir(parents=True)
                shutil.copy(Path(os.environ["GRADCOLL_LIBRARY"]), package / "builds" / folder / _library._NAME)
            program = (f"{before}\nimport numpy, gradcoll\nfrom gradcoll import _capi\n"
                       "print(_capi.lib._name.split('/')[-2], gradcoll.allreduce(numpy.ones(3)).sum())")
            kept = {name: text for name, text in os.environ.items() if not name.startswith(("OMPI_", "PMI", "PRTE", "HYDRA"))}
            del kept["GRADCOLL_LIBRARY"]
            told = {"PYTHONPATH": place, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_mtl": "^ofi,psm,psm2"}
            run = subprocess.run([sys.executable, "-c", program], env={**kept, **told}, capture_output=True, text=True)
            return run.stdout + run.stderr

    @unittest.skipUnless("Open MPI v4" in MPI.Get_library_version(), "the MPI of which this test knows the folder")
    def test_the_package_takes_the_one_of_its_mpi(self):
        self.assertEqual(self.imported([abi.folder for abi in _builds.ABIS]).split(), ["openmpi4", "3.0"])

    @unittest.skipUnless("Open MPI v4" in MPI.Get_library_version(), "the MPI of which this test knows the folder")
    def test_a_package_without_one_says_what_it_has(self):
        said = self.imported(["openmpi5", "mpich"])
        self.assertRegex(said, r"ImportError: gradcoll: mpi4py uses Open MPI v4\.\S+ \(libmpi\.so\.\S+\), but")
        self.assertIn("MPICH 3.4 to 5 and Intel MPI (libmpi.so.12), Open MPI 5 (libmpi.so.40)", said)

    def test_no_mpi_at_all(self):
        fails = "import sys, types\nclass Rc: initialize = True\nsys.modules['mpi4py'] = package = types.ModuleType('mpi4py')\npackage.rc = Rc\n"
        looks = ("class Finder:\n  def find_spec(name, *rest):\n    if name == 'mpi4py.MPI': raise RuntimeError('cannot load MPI library')\n"
                 "package.__path__ = []\nsys.meta_path.insert(0, Finder)")
        said = self.imported([], fails + looks)
        self.assertIn("ImportError: gradcoll: mpi4py has found no MPI (cannot load MPI library); pip install gradcoll[mpich]", said)


if __name__ == "__main__":
    main()
