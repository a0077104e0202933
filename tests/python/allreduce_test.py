# allreduce_test.py - gradcoll.allreduce beside mpi4py's own, and what compression may change.
import unittest

from support import COMPRESSIBLE, MPI, WORLD, gradcoll, is_same_on_all_ranks, main, numpy, random_vector, relative_error

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COUNTS = [0, 1, 1000, 100_003]


def setUpModule():
    gradcoll.set_option(None, "gc_tree_min_bytes", "1K")  # so that calls of both kinds are made


def small_values(count, dtype):
    """Of which neither sums nor products over four ranks leave 8 bits."""
    return ((numpy.arange(count) * 7 + WORLD.rank * 3) % 3 + 1).astype(dtype)


def of_mpi4py(array, op):
    array = numpy.ascontiguousarray(array)
    out = numpy.empty_like(array)
    WORLD.Allreduce(array, out, op)
    return out


class Exact(unittest.TestCase):
    def test_integers_and_all_ops_give_what_mpi4py_gives(self):
        for dtype in INTEGERS:
            for name in ["sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"]:
                for count in COUNTS:
                    with self.subTest(dtype=dtype, op=name, count=count):
                        array = small_values(count, dtype)
                        got = gradcoll.allreduce(array, op=name)
                        numpy.testing.assert_array_equal(got, of_mpi4py(array, getattr(MPI, name.upper())))
                        self.assertEqual(got.dtype, array.dtype)

    def test_floats_give_what_mpi4py_gives_but_for_rounding(self):
        for dtype in FLOATS:
            for name in ["sum", "prod", "min", "max"]:
                for count in COUNTS:
                    with self.subTest(dtype=dtype, op=name, count=count):
                        array = random_vector(count, dtype)
                        expected = of_mpi4py(array, getattr(MPI, name.upper()))
                        tolerance = 16 * numpy.finfo(dtype).eps
                        numpy.testing.assert_allclose(
                            gradcoll.allreduce(array, op=name), expected, rtol=tolerance, atol=tolerance
                        )

    def test_half_floats_are_summed_and_compared(self):
        for count in COUNTS:
            array = small_values(count, "float16") / 4  # sums are exact
            wide = array.astype("float32")
            for name in ["sum", "min", "max"]:
                got = gradcoll.allreduce(array, op=name)
                self.assertEqual(got.dtype, numpy.float16)
                numpy.testing.assert_array_equal(got, of_mpi4py(wide, getattr(MPI, name.upper())).astype("float16"))

    def test_ops_of_mpi4py_are_taken(self):
        array = random_vector(1000)
        numpy.testing.assert_array_equal(gradcoll.allreduce(array, op=MPI.MAX), of_mpi4py(array, MPI.MAX))

    def test_an_op_written_in_python_passes_to_mpi(self):
        def larger(a, b, _):
            into = numpy.frombuffer(b, dtype="int64")
            into[:] = numpy.maximum(numpy.frombuffer(a, dtype="int64"), into)

        op = MPI.Op.Create(larger, commute=True)
        array = numpy.arange(5) * (WORLD.rank + 1)
        numpy.testing.assert_array_equal(gradcoll.allreduce(array, op=op), of_mpi4py(array, MPI.MAX))
        op.Free()

    def test_the_sum_is_the_same_on_every_call_and_rank(self):
        array = random_vector(300_000)
        first = gradcoll.allreduce(array)
        self.assertTrue(is_same_on_all_ranks(first))
        self.assertEqual(first.tobytes(), gradcoll.allreduce(array).tobytes())


class Shapes(unittest.TestCase):
    def test_shapes_are_kept(self):
        for shape in [(), (0,), (3, 0, 2), (1,), (2, 3, 5)]:
            array = numpy.full(shape, 1.5)
            got = gradcoll.allreduce(array)
            self.assertEqual(got.shape, shape)
            numpy.testing.assert_array_equal(got, array * WORLD.size)

    def test_what_is_not_contiguous_is_copied(self):
        array = numpy.arange(24.0).reshape(4, 6) + WORLD.rank
        for view in [array.T, array[:, ::2], array[::-1], numpy.asfortranarray(array)]:
            before = view.copy()
            got = gradcoll.allreduce(view)
            numpy.testing.assert_array_equal(got, of_mpi4py(view, MPI.SUM))
            numpy.testing.assert_array_equal(view, before)

    def test_other_byte_orders_and_unaligned_arrays_are_copied(self):
        swapped = numpy.arange(10, dtype=">f8")
        got = gradcoll.allreduce(swapped)
        self.assertTrue(got.dtype.isnative)
        numpy.testing.assert_array_equal(got, numpy.arange(10) * float(WORLD.size))
        packed = numpy.zeros(7, dtype=[("tag", "u1"), ("value", "<f4")])
        packed["value"] = 2
        numpy.testing.assert_array_equal(gradcoll.allreduce(packed["value"]), numpy.full(7, 2.0 * WORLD.size))

    def test_in_place_changes_the_array_itself(self):
        for count in COUNTS:
            array = small_values(count, "int32")
            expected = of_mpi4py(array, MPI.SUM)
            self.assertIs(gradcoll.allreduce(array, out=array), array)
            numpy.testing.assert_array_equal(array, expected)

    def test_out_is_written_and_returned(self):
        array = random_vector(1000)
        before, out = array.copy(), numpy.full(1000, numpy.nan, dtype="float32")
        self.assertIs(gradcoll.allreduce(array, out=out), out)
        numpy.testing.assert_allclose(out, of_mpi4py(array, MPI.SUM), rtol=1e-5, atol=1e-6)
        numpy.testing.assert_array_equal(array, before)

    def test_other_communicators_are_used(self):
        half = WORLD.Split(WORLD.rank % 2)
        got = gradcoll.allreduce(numpy.array([1, WORLD.rank % 2]), half)
        numpy.testing.assert_array_equal(got, [half.size, half.size * (WORLD.rank % 2)])
        half.Free()


class Compressed(unittest.TestCase):
    def test_two_of_four_is_near_and_the_same_on_all_ranks(self):
        for dtype in ["float16", "float32", "float64"]:
            array = random_vector(2 * COMPRESSIBLE, dtype)
            exact = of_mpi4py(array.astype("float64"), MPI.SUM)
            got = gradcoll.allreduce(array, codec="2:4")
            self.assertTrue(is_same_on_all_ranks(got))
            error = relative_error(got, exact)
            if WORLD.size == 1:
                self.assertEqual(error, 0)
            else:  # it is compressed, and not nonsense
                self.assertGreater(error, 0.05)
                self.assertLess(error, 0.8)

    def test_no_element_is_further_off_than_the_tolerance(self):
        for dtype in ["float32", "float64"]:
            array = random_vector(2 * COMPRESSIBLE, dtype)
            exact = of_mpi4py(array.astype("float64"), MPI.SUM)
            for codec in [None, "bound"]:
                for tolerance in [0.01, 0.0001]:
                    got = gradcoll.allreduce(array, codec=codec, tolerance=f"abs={tolerance}")
                    self.assertTrue(is_same_on_all_ranks(got))
                    self.assertLessEqual(numpy.abs(got.astype("float64") - exact).max(), tolerance)

    def test_the_tolerance_of_one_call_leaves_no_trace(self):
        comm = WORLD.Dup()
        gradcoll.set_codec(comm, "2:4")
        gradcoll.allreduce(random_vector(COMPRESSIBLE), comm, tolerance="abs=0.01")
        self.assertEqual(gradcoll.get_option(comm, "gc_codec"), "2:4")
        self.assertEqual(gradcoll.get_option(comm, "gc_tolerance"), "per-hop")
        gradcoll.set_codec(comm, "exact")
        gradcoll.set_option(comm, "gc_tolerance", "range=0.001")
        gradcoll.allreduce(random_vector(COMPRESSIBLE), comm, codec="2:4", tolerance="per-hop")
        self.assertEqual(gradcoll.get_option(comm, "gc_tolerance"), "range=0.001")
        comm.Free()

    def test_the_codec_of_one_call_leaves_no_trace(self):
        comm = WORLD.Dup()
        array = random_vector(COMPRESSIBLE)
        exact = gradcoll.allreduce(array, comm)
        for value in ("bf16", "0:4:4,7:1:4", "exact,2:4", "int8,down=bf16"):
            gradcoll.set_option(comm, "gc_codec", value)
            gradcoll.allreduce(array, comm, codec="2:4")
            self.assertEqual(gradcoll.get_option(comm, "gc_codec"), value)
        gradcoll.set_option(comm, "gc_codec", "down=same")
        gradcoll.set_codec(comm, "1:4")
        self.assertEqual(exact.tobytes(), gradcoll.allreduce(array, comm, codec="exact").tobytes())
        self.assertEqual(gradcoll.get_option(comm, "gc_codec"), "1:4")
        comm.Free()

    def test_nothing_is_compressed_unasked(self):
        comm = WORLD.Dup()
        gradcoll.allreduce(random_vector(2 * COMPRESSIBLE), comm)
        self.assertEqual(gradcoll.stats(comm).calls_compressed, 0)
        comm.Free()


if __name__ == "__main__":
    main()
