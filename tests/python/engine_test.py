# engine_test.py - engines: named gradients in orders of each rank's own, their errors, and what codecs drop.
import gc
import random
import threading
import unittest
import warnings

from support import (
    COMPRESSIBLE,
    MPI,
    WORLD,
    gradcoll,
    is_same_on_all_ranks,
    main,
    numpy,
    random_vector,
    relative_error,
)

LOSSY = {"gc_compress_if": "always", "gc_compress_bytes": 0}
is_alone = WORLD.size == 1


class Sums(unittest.TestCase):
    def test_names_match_in_any_order(self):
        shapes = [(3,), (100, 7), (), (50_000,), (2, 3, 4)]
        with gradcoll.Engine() as engine:
            for step in range(3):
                order = list(range(len(shapes)))
                random.Random(10 * step + WORLD.rank).shuffle(order)
                handles = {}
                for at in order:
                    mine = numpy.full(shapes[at], WORLD.rank + at + step, "float32")
                    handles[at] = engine.submit(f"layer.{at}", mine, priority=at)
                for at, handle in handles.items():
                    got = handle.wait()
                    self.assertIs(got, handle.out)
                    expected = sum(rank + at + step for rank in range(WORLD.size))
                    numpy.testing.assert_array_equal(got, numpy.full(shapes[at], expected, "float32"))

    def test_ops_types_and_places(self):
        with gradcoll.Engine() as engine:
            most = engine.submit("most", numpy.array([WORLD.rank, 3], "int64"), op="max")
            inside = numpy.ones(10)
            self.assertIs(engine.submit("inside", inside, out=inside).wait(), inside)
            out = numpy.empty(10)
            engine.submit("beside", numpy.ones(20)[::2], out=out).wait()  # which is copied first
            self.assertEqual(list(most.wait()), [WORLD.size - 1, 3])
            self.assertEqual([inside[9], out[9]], [WORLD.size, WORLD.size])

    def test_test_flush_and_waiting_twice(self):
        with gradcoll.Engine() as engine:
            handle = engine.submit("w", numpy.ones(1000))
            engine.flush()
            self.assertTrue(handle.test())
            self.assertTrue(handle.test())
            self.assertEqual(handle.wait()[0], WORLD.size)
            handle = engine.submit("w", numpy.ones(1000))
            while not handle.test():
                pass
            self.assertEqual(handle.out[999], WORLD.size)

    def test_threads_hand_in_and_wait(self):
        if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
            self.skipTest("MPI without MPI_THREAD_MULTIPLE")
        results = {}

        def work(number):
            for step in range(5):
                handle = engine.submit(f"of.{number}", numpy.full(5000, number + step, "float32"))
                results[number, step] = handle.wait()[0]

        with gradcoll.Engine() as engine:
            threads = [threading.Thread(target=work, args=[number]) for number in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(results, {(n, s): WORLD.size * (n + s) for n in range(3) for s in range(5)})

    def test_what_nobody_waits_for_is_summed_before_the_end(self):
        out = numpy.empty(COMPRESSIBLE)
        with gradcoll.Engine(options={"gc_engine": "ring"}) as engine:
            engine.submit("w", numpy.ones(COMPRESSIBLE), out=out)
        self.assertEqual(out[-1], WORLD.size)
        self.assertTrue(engine.is_freed)
        engine.close()

    def test_the_users_communicator_is_left_alone(self):
        comm = WORLD.Dup()
        comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        with gradcoll.Engine(comm) as engine:
            engine.submit("w", numpy.ones(4)).wait()
            self.assertEqual(comm.Get_errhandler(), MPI.ERRORS_ARE_FATAL)
        comm.Free()


class Feedback(unittest.TestCase):
    def drift(self, feedback):
        mine = random_vector(COMPRESSIBLE)
        exact = 10 * WORLD.allreduce(mine.astype("float64"))
        total = numpy.zeros(COMPRESSIBLE)
        with gradcoll.Engine(codec="2:4", options={**LOSSY, "gc_feedback": feedback}) as engine:
            for _ in range(10):
                got = engine.submit("w", mine).wait()
                self.assertTrue(is_same_on_all_ranks(got))
                total += got
        return relative_error(total, exact)

    def test_what_is_dropped_comes_later(self):
        with_feedback, without = self.drift("on"), self.drift("off")
        if not is_alone:
            self.assertLess(with_feedback, without / 3)

    def test_a_checkpoint_goes_on_in_another_engine(self):
        mine = random_vector(COMPRESSIBLE)
        with gradcoll.Engine(codec="2:4", options=LOSSY) as engine:
            engine.submit("w", mine).wait()
            residual = engine.residual("w", mine)
            self.assertEqual(residual is None, is_alone)
            if is_alone:
                return
            self.assertEqual(engine.stats().calls_compressed, 1)
            saved = residual.save()
            expected = engine.submit("w", mine).wait()
        with self.assertRaisesRegex(ValueError, "freed"):
            residual.save()
        with gradcoll.Engine(codec="2:4", options=LOSSY) as engine:
            engine.residual("w", mine).load(saved)
            self.assertEqual(engine.submit("w", mine).wait().tobytes(), expected.tobytes())

    def test_exact_sums_have_none(self):
        with gradcoll.Engine() as engine:
            self.assertIsNone(engine.residual("w", numpy.ones(COMPRESSIBLE)))


class Errors(unittest.TestCase):
    def test_arguments(self):
        for arguments, kind, words in [
            ({"comm": 3}, TypeError, "comm is 3"),
            ({"codec": 2}, TypeError, "codec is 2"),
            ({"codec": "3:4"}, gradcoll.Error, "3:4"),
            ({"codec": "2:4", "options": {"gc_codec": "1:4"}}, ValueError, "given twice"),
            ({"options": {"gc_tolerance": "abs=1"}}, gradcoll.Error, "gc_tolerance"),
        ]:
            with self.assertRaisesRegex(kind, words):
                gradcoll.Engine(**arguments)
        with gradcoll.Engine() as engine:
            for arguments, kind, words in [
                ((3, numpy.ones(2)), TypeError, "name is 3"),
                (("", numpy.ones(2)), gradcoll.Error, "name has no bytes"),
                (("n" * 300, numpy.ones(2)), gradcoll.Error, "more than 255"),
                (("w", [1, 2]), TypeError, "array is"),
                (("w", numpy.ones(2), "most"), ValueError, "op is 'most'"),
                (("w", numpy.ones(2), "sum", None, 1.5), TypeError, "priority is 1.5"),
                (("w", numpy.ones(2), "sum", None, 2**31), ValueError, "priority is 2147483648"),
            ]:
                with self.assertRaisesRegex(kind, words):
                    engine.submit(*arguments)

    def test_a_name_that_is_handed_in(self):
        with gradcoll.Engine() as engine:
            handle = engine.submit("w", numpy.ones(2))
            with self.assertRaisesRegex(gradcoll.Error, "wait for its handle first"):
                engine.submit("w", numpy.ones(2))
            self.assertEqual(handle.wait()[0], WORLD.size)

    def test_ranks_that_differ_all_learn_it_once(self):
        if is_alone:
            return
        with gradcoll.Engine() as engine:
            handle = engine.submit("w", numpy.ones(100 + (WORLD.rank == 0)))
            with self.assertRaisesRegex(gradcoll.Error, "101 elements"):
                handle.wait()
            handle.wait()
            self.assertEqual(engine.submit("w", numpy.ones(100)).wait()[0], WORLD.size)
            engine.submit("w", numpy.ones(100 + (WORLD.rank == 0)))
            with self.assertRaisesRegex(gradcoll.Error, "101 elements"):
                engine.close()
        self.assertTrue(engine.is_freed)

    def test_it_goes_on_with_other_ranks(self):
        rest = WORLD.Split(MPI.UNDEFINED if 0 < WORLD.rank == WORLD.size - 1 else 0)
        engine = gradcoll.Engine()
        handle = engine.submit("w", numpy.full(1000, 1.0 + WORLD.rank))
        handle.wait()
        if rest == MPI.COMM_NULL:
            engine.reconfigure(MPI.COMM_SELF)
        else:
            engine.reconfigure(rest)
            expected = rest.size * (rest.size + 1) / 2
            for _ in range(3):
                handle = engine.submit("w", numpy.full(1000, 1.0 + WORLD.rank))
                numpy.testing.assert_array_equal(handle.wait(), numpy.full(1000, expected))
            rest.Free()
        newcomer = gradcoll.Engine() if WORLD.size > 1 and WORLD.rank == WORLD.size - 1 else None
        if newcomer is None:
            engine.reconfigure(WORLD)
        else:
            engine.close()
            engine = newcomer
        expected = WORLD.size * (WORLD.size + 1) / 2
        result = engine.submit("w", numpy.full(1000, 1.0 + WORLD.rank)).wait()
        numpy.testing.assert_array_equal(result, numpy.full(1000, expected))
        handle = engine.submit("late", numpy.ones(10))
        engine.flush()
        if WORLD.rank > 0:
            handle.wait()
        with self.assertRaisesRegex(gradcoll.Error, "whose handles are not complete"):
            engine.reconfigure(WORLD)
        engine.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            engine.reconfigure(WORLD)

    def test_a_closed_engine(self):
        engine = gradcoll.Engine()
        engine.close()
        for use in [engine.stats, lambda: engine.submit("w", numpy.ones(2)), engine.flush, lambda: engine.residual("w", numpy.ones(2))]:
            with self.assertRaisesRegex(ValueError, "the engine has been closed"):
                use()

    def test_an_engine_that_is_dropped_or_left_by_an_exception_is_left_to_the_end(self):
        with self.assertRaisesRegex(KeyError, "of the program"):
            with gradcoll.Engine() as engine:
                engine.submit("w", numpy.ones(2))
                raise KeyError("of the program")
        self.assertFalse(engine.is_freed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gradcoll.Engine()
            gc.collect()
        self.assertIn("dropped without close()", str(caught[-1].message))


if __name__ == "__main__":
    main()
