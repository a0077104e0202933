# errors_test.py - bad arguments are exceptions that name the argument, on every rank, and nothing hangs.
import unittest

from support import COMPRESSIBLE, MPI, WORLD, gradcoll, main, numpy, random_vector


class Arguments(unittest.TestCase):
    def refuses(self, kind, words, *arguments, **named):
        with self.assertRaises(kind) as caught:
            gradcoll.allreduce(*arguments, **named)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_what_is_no_array(self):
        for value in [3, 2.5, [1.0, 2.0], "text", None, b"bytes"]:
            self.refuses(TypeError, ["array is", "numpy"], value)

    def test_types_that_are_not_reduced(self):
        self.refuses(TypeError, ["array is of bool", "uint8"], numpy.array([True, False]))
        for dtype in ["complex64", "complex128", "longdouble", "datetime64[s]", "U3", "O"]:
            self.refuses(TypeError, ["array is of", "float32"], numpy.zeros(4, dtype=dtype))
        self.refuses(TypeError, ["masked"], numpy.ma.masked_array([1.0, 2.0], [True, False]))

    def test_ops(self):
        array = numpy.zeros(4)
        self.refuses(ValueError, ["op is 'mean'", "'sum'", "'bxor'"], array, op="mean")
        self.refuses(TypeError, ["op is 7"], array, op=7)
        self.refuses(ValueError, ["MPI.OP_NULL"], array, op=MPI.OP_NULL)
        self.refuses(ValueError, ["'band'", "float64", "'sum'"], array, op="band")
        self.refuses(ValueError, ["'lor'", "float64"], array, op=MPI.LOR)

    def test_out(self):
        array = numpy.zeros((2, 3))
        self.refuses(ValueError, ["out has shape (3, 2)", "(2, 3)"], array, out=numpy.zeros((3, 2)))
        self.refuses(TypeError, ["out is of float32", "float64"], array, out=numpy.zeros((2, 3), "float32"))
        self.refuses(ValueError, ["out is not a C-contiguous"], array, out=numpy.zeros((3, 2)).T)
        self.refuses(TypeError, ["out is"], array, out=[0.0] * 6)
        locked = numpy.zeros((2, 3))
        locked.flags.writeable = False
        self.refuses(ValueError, ["out is read-only"], array, out=locked)
        self.refuses(ValueError, ["out is not a C-contiguous"], array.T, out=array.T)

    def test_out_that_overlaps_is_an_error_of_the_library(self):
        memory = numpy.zeros(12)
        with self.assertRaises(gradcoll.Error) as caught:
            gradcoll.allreduce(memory[:8], out=memory[4:])
        self.assertIn("overlap", str(caught.exception))
        self.assertEqual(MPI.Get_error_class(caught.exception.code), MPI.ERR_BUFFER)

    def test_communicators(self):
        array = numpy.zeros(4)
        self.refuses(TypeError, ["comm is 'world'", "MPI.COMM_WORLD"], array, "world")
        self.refuses(ValueError, ["MPI.COMM_NULL"], array, MPI.COMM_NULL)
        freed = WORLD.Dup()
        freed.Free()
        self.refuses(ValueError, ["freed"], array, freed)

    def test_codecs(self):
        self.refuses(gradcoll.Error, ["3:4", "2:4"], random_vector(100), codec="3:4")
        self.refuses(TypeError, ["codec is 24"], random_vector(100), codec=24)
        self.refuses(ValueError, ["codec is '2:4'", "int32"], numpy.zeros(4, "int32"), codec="2:4")
        self.refuses(ValueError, ["codec is '2:4'", "'max'"], numpy.zeros(4), op="max", codec="2:4")

    def test_tolerances(self):
        self.refuses(gradcoll.Error, ["gc_tolerance", "rel=1e-3", "abs=NUMBER"], random_vector(100), tolerance="rel=1e-3")
        self.refuses(gradcoll.Error, ["2:4", "gc_tolerance"], random_vector(100), codec="2:4", tolerance="abs=1e-3")
        self.refuses(TypeError, ["tolerance is 0.1"], random_vector(100), tolerance=0.1)
        self.refuses(ValueError, ["tolerance is 'abs=1'", "int32"], numpy.zeros(4, "int32"), tolerance="abs=1")
        self.refuses(ValueError, ["tolerance is 'abs=1'", "'max'"], numpy.zeros(4), op="max", tolerance="abs=1")
        self.assertEqual(gradcoll.get_option(WORLD, "gc_tolerance"), "per-hop")

    def test_residuals(self):
        array = random_vector(COMPRESSIBLE)
        with gradcoll.Residual(None, array) as residual:
            self.refuses(ValueError, ["residual was made for 65536"], array[:-1], residual=residual)
            self.refuses(ValueError, ["float32", "float64"], array.astype("float64"), residual=residual)
            self.refuses(gradcoll.Error, ["op"], array, op="max", residual=residual)
            self.refuses(TypeError, ["residual is 5"], array, residual=5)
            other = WORLD.Dup()
            self.refuses(ValueError, ["another communicator"], array, other, residual=residual)
            other.Free()
        self.refuses(ValueError, ["freed"], array, residual=residual)
        with self.assertRaises(gradcoll.Error) as caught:
            gradcoll.Residual(None, numpy.zeros(4, "int32"))
        self.assertEqual(MPI.Get_error_class(caught.exception.code), MPI.ERR_TYPE)


class Handlers(unittest.TestCase):
    def test_an_error_is_an_exception_under_every_handler_which_stays(self):
        for handler in [MPI.ERRORS_ARE_FATAL, MPI.ERRORS_RETURN]:
            comm = WORLD.Dup()
            comm.Set_errhandler(handler)
            with self.assertRaises(gradcoll.Error) as caught:
                gradcoll.set_codec(comm, "3:4")
            self.assertIn("3:4", str(caught.exception))
            now = comm.Get_errhandler()
            self.assertEqual(now, handler)
            comm.Free()

    def test_a_setting_on_which_ranks_differ_names_it_on_all(self):
        if WORLD.size == 1:
            return
        with self.assertRaises(gradcoll.Error) as caught:
            gradcoll.set_option(None, "gc_compress_bytes", 1000 + WORLD.rank)
        self.assertIn("gc_compress_bytes", str(caught.exception))
        self.assertEqual(gradcoll.get_option(None, "gc_compress_bytes"), "64K")

    def test_the_communicator_goes_on_working(self):
        numpy.testing.assert_array_equal(gradcoll.allreduce(numpy.ones(100_000)), numpy.full(100_000, float(WORLD.size)))


class OtherCalls(unittest.TestCase):
    def test_settings(self):
        for arguments in [(None, "gc_no_such_key", "1"), (None, "gc_compress_bytes", "many")]:
            with self.assertRaises(gradcoll.Error):
                gradcoll.set_option(*arguments)
        with self.assertRaisesRegex(gradcoll.Error, "gc_codec"):
            gradcoll.get_option(None, "gc_codecs")
        with self.assertRaisesRegex(TypeError, "value is 1.5"):
            gradcoll.set_option(None, "gc_compress_bytes", 1.5)
        with self.assertRaisesRegex(ValueError, "zero character"):
            gradcoll.set_option(None, "gc_codec", "2:4\0")

    def test_trees_and_steps(self):
        with self.assertRaisesRegex(ValueError, "format is 'yaml'.*'json'"):
            gradcoll.tree(None, "yaml")
        with self.assertRaisesRegex(ValueError, "step is -1"):
            gradcoll.set_step(None, -1)
        with self.assertRaisesRegex(TypeError, "step is 'one'"):
            gradcoll.set_step(None, "one")


if __name__ == "__main__":
    main()
