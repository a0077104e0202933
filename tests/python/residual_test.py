# residual_test.py - error feedback: nothing that a codec dropped is lost, and it survives a checkpoint.
import unittest

from support import COMPRESSIBLE, MPI, WORLD, gradcoll, is_same_on_all_ranks, main, numpy, random_vector, relative_error

STEPS = 12


def gradient(step, dtype):
    """What a training has: a part that stays and a part that changes."""
    return random_vector(COMPRESSIBLE, dtype, seed=100) + random_vector(COMPRESSIBLE, dtype, seed=step) / 4


class Feedback(unittest.TestCase):
    def setUp(self):
        self.comm = WORLD.Dup()
        gradcoll.set_codec(self.comm, "2:4")

    def tearDown(self):
        self.comm.Free()

    def sum_of_steps(self, dtype, residual):
        total = numpy.zeros(COMPRESSIBLE)
        exact = numpy.zeros(COMPRESSIBLE)
        for step in range(STEPS):
            mine = gradient(step, dtype)
            total += gradcoll.allreduce(mine, self.comm, residual=residual)
            exact += WORLD.allreduce(mine.astype("float64"))
        return total, exact

    def test_the_error_of_many_steps_does_not_add_up(self):
        without = relative_error(*self.sum_of_steps("float32", None))
        with gradcoll.Residual(self.comm, numpy.empty(COMPRESSIBLE, "float32")) as residual:
            with_feedback = relative_error(*self.sum_of_steps("float32", residual))
        if WORLD.size == 1:
            self.assertLess(without, 1e-6)
            self.assertLess(with_feedback, 1e-6)
        else:
            self.assertGreater(without, 0.1)
            self.assertLess(with_feedback, without / 2)

    def test_an_exact_call_brings_what_was_dropped(self):
        for dtype, tolerance in [("float32", 1e-5), ("float64", 1e-5)]:
            with gradcoll.Residual(self.comm, numpy.empty(COMPRESSIBLE, dtype)) as residual:
                total, exact = self.sum_of_steps(dtype, residual)
                rest = gradcoll.allreduce(numpy.zeros(COMPRESSIBLE, dtype), self.comm, codec="exact", residual=residual)
                self.assertLess(relative_error(total + rest, exact), tolerance)
                again = gradcoll.allreduce(numpy.zeros(COMPRESSIBLE, dtype), self.comm, codec="exact", residual=residual)
                self.assertEqual(numpy.abs(again).max(), 0)

    def test_what_is_handed_over_is_in_the_next_sum(self):
        for dtype in ("float32", "float64"):
            with gradcoll.Residual(self.comm, numpy.empty(COMPRESSIBLE, dtype)) as residual:
                total, exact = self.sum_of_steps(dtype, residual)
                rest = numpy.zeros(COMPRESSIBLE, dtype)
                residual.hand_over(rest)
                rest = gradcoll.allreduce(rest, WORLD)
                self.assertLess(relative_error(total + rest, exact), 1e-5)
                nothing = numpy.zeros(COMPRESSIBLE, dtype)
                residual.hand_over(nothing)
                self.assertEqual(numpy.abs(nothing).max(), 0)
                with self.assertRaisesRegex(ValueError, "allowed are"):
                    residual.hand_over(nothing[1:])

    def test_ranks_end_with_the_same_bits(self):
        with gradcoll.Residual(self.comm, numpy.empty(COMPRESSIBLE, "float16")) as residual:
            for step in range(3):
                got = gradcoll.allreduce(gradient(step, "float16"), self.comm, residual=residual)
                self.assertTrue(is_same_on_all_ranks(got))

    def test_a_checkpoint_restores_the_residual(self):
        array = random_vector(COMPRESSIBLE)
        with gradcoll.Residual(self.comm, array) as first, gradcoll.Residual(self.comm, array) as second:
            gradcoll.allreduce(array, self.comm, residual=first)
            saved = first.save()
            self.assertEqual(len(saved), first.nbytes)
            second.load(saved)
            self.assertEqual(second.save(), saved)
            a = gradcoll.allreduce(array, self.comm, residual=first)
            b = gradcoll.allreduce(array, self.comm, residual=second)
            self.assertEqual(a.tobytes(), b.tobytes())

    def test_scale_and_reset_change_what_comes_back(self):
        array = random_vector(COMPRESSIBLE)
        zeros = numpy.zeros_like(array)
        with gradcoll.Residual(self.comm, array) as residual:
            rests = []
            for change in [lambda: None, lambda: residual.scale(0.5), residual.reset]:
                gradcoll.allreduce(array, self.comm, residual=residual)
                change()
                rests.append(gradcoll.allreduce(zeros, self.comm, codec="exact", residual=residual))
        if WORLD.size > 1:
            self.assertGreater(numpy.abs(rests[0]).max(), 0)
        numpy.testing.assert_allclose(rests[1], rests[0] / 2, rtol=1e-5, atol=1e-6)
        self.assertEqual(numpy.abs(rests[2]).max(), 0)

    def test_damaged_checkpoints_are_refused_and_change_nothing(self):
        array = random_vector(COMPRESSIBLE)
        with gradcoll.Residual(self.comm, array) as residual:
            gradcoll.allreduce(array, self.comm, residual=residual)
            saved = residual.save()
            flipped = bytearray(saved)
            flipped[-1] ^= 1  # the checksum
            for bad in [b"", saved[:20], saved[:-1], saved + b"x", bytes(flipped)]:
                with self.assertRaises(gradcoll.Error):
                    residual.load(bad)
            with self.assertRaisesRegex(TypeError, "checkpoint is 'text'"):
                residual.load("text")
            self.assertEqual(residual.save(), saved)
            with self.assertRaisesRegex(gradcoll.Error, "factor"):
                residual.scale(float("nan"))

    def test_a_residual_can_be_freed_twice_and_is_then_refused(self):
        residual = gradcoll.Residual(self.comm, numpy.empty(10))
        residual.free()
        residual.free()
        with self.assertRaisesRegex(ValueError, "freed"):
            residual.save()

    def test_a_residual_outlives_its_communicator_without_harm(self):
        comm = WORLD.Dup()
        residual = gradcoll.Residual(comm, numpy.empty(COMPRESSIBLE))
        comm.Free()
        self.assertEqual(comm, MPI.COMM_NULL)
        residual.free()


if __name__ == "__main__":
    main()
