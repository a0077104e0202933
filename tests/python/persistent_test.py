# persistent_test.py - requests that are set up once and started many times.
import unittest

from support import COMPRESSIBLE, WORLD, gradcoll, is_same_on_all_ranks, main, numpy, random_vector, relative_error


def sum_of(array):
    return WORLD.allreduce(array.astype("float64"))


class Requests(unittest.TestCase):
    def test_every_start_sums_what_the_array_holds_then(self):
        for count in [0, 10, 200_000]:
            array = numpy.empty(count, "float32")
            with gradcoll.Persistent(array) as request:
                for step in range(3):
                    array[:] = random_vector(count, seed=step)
                    request.start()
                    self.assertIs(request.wait(), request.out)
                    numpy.testing.assert_allclose(request.out, sum_of(array), rtol=1e-5, atol=1e-5)

    def test_in_place(self):
        array = random_vector((300, 500))
        expected = sum_of(array)
        with gradcoll.Persistent(array, out=array) as request:
            request.start()
            self.assertIs(request.wait(), array)
        numpy.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-5)

    def test_several_are_under_way_at_once_and_end_by_test(self):
        arrays = [random_vector(100_000, seed=seed) for seed in range(4)]
        requests = [gradcoll.Persistent(array) for array in arrays]
        for request in requests:
            request.start()
        for request in reversed(requests):
            while not request.test():
                pass
        for array, request in zip(arrays, requests):
            numpy.testing.assert_allclose(request.out, sum_of(array), rtol=1e-5, atol=1e-5)
            self.assertTrue(request.test())
            request.free()

    def test_other_ops_and_types(self):
        array = numpy.arange(100_000, dtype="int64") * (WORLD.rank + 1)
        with gradcoll.Persistent(array, op="max") as request:
            request.start()
            numpy.testing.assert_array_equal(request.wait(), numpy.arange(100_000) * WORLD.size)


class Compressed(unittest.TestCase):
    def test_feedback_is_on_by_default_and_can_be_switched_off(self):
        array = random_vector(COMPRESSIBLE)
        steps, errors = 10, []
        for options in [{}, {"gc_feedback": "off"}]:
            with gradcoll.Persistent(array, codec="2:4", options=options) as request:
                total = numpy.zeros(COMPRESSIBLE)
                for _ in range(steps):
                    request.start()
                    total += request.wait()
                    self.assertTrue(is_same_on_all_ranks(request.out))
                self.assertEqual(request.residual is None, bool(options) or WORLD.size == 1)
                errors.append(relative_error(total, steps * sum_of(array)))
        if WORLD.size > 1:
            self.assertLess(errors[0], errors[1] / 2)

    def test_a_schedule_changes_the_codec_by_step(self):
        array = random_vector(COMPRESSIBLE)
        options = {"gc_codec": "0:4:4,2:2:4", "gc_feedback": "off"}
        with gradcoll.Persistent(array, options=options) as request:
            errors = []
            for step in [None, None, None, 0]:
                if step is not None:
                    request.set_step(step)
                request.start()
                errors.append(relative_error(request.wait(), sum_of(array)))
        is_lossy = [error > 1e-3 for error in errors]
        self.assertEqual(is_lossy, [False, False, WORLD.size > 1, False])

    def test_the_residual_is_saved_and_restored(self):
        if WORLD.size == 1:
            return  # there is none
        array = random_vector(COMPRESSIBLE)
        with gradcoll.Persistent(array, codec="2:4") as request:
            request.start()
            request.wait()
            saved = request.residual.save()
            request.start()
            second = request.wait().copy()
            request.residual.load(saved)
            request.start()
            self.assertEqual(second.tobytes(), request.wait().tobytes())
            residual = request.residual
        with self.assertRaisesRegex(ValueError, "freed"):
            residual.save()


class Errors(unittest.TestCase):
    def test_arguments(self):
        with self.assertRaisesRegex(ValueError, "array is not a C-contiguous"):
            gradcoll.Persistent(numpy.zeros((3, 4)).T)
        with self.assertRaisesRegex(ValueError, "codec is '2:4', but array is of int32"):
            gradcoll.Persistent(numpy.zeros(4, "int32"), codec="2:4")
        with self.assertRaisesRegex(ValueError, "codec is given twice"):
            gradcoll.Persistent(numpy.zeros(4), codec="2:4", options={"gc_codec": "1:4"})
        with self.assertRaisesRegex(TypeError, "options is 'gc_codec'"):
            gradcoll.Persistent(numpy.zeros(4), options="gc_codec")
        with self.assertRaisesRegex(gradcoll.Error, "gc_codecs"):
            gradcoll.Persistent(numpy.zeros(4), options={"gc_codecs": "2:4"})
        with self.assertRaisesRegex(gradcoll.Error, "steps must increase"):
            gradcoll.Persistent(numpy.zeros(4), options={"gc_codec": "0:2:4,0:1:4"})

    def test_a_second_start_is_refused_and_the_first_goes_on(self):
        with gradcoll.Persistent(numpy.ones(100_000)) as request:
            request.start()
            with self.assertRaisesRegex(gradcoll.Error, "started already"):
                request.start()
            numpy.testing.assert_array_equal(request.wait(), numpy.full(100_000, float(WORLD.size)))

    def test_a_freed_request_is_refused(self):
        request = gradcoll.Persistent(numpy.ones(4))
        request.free()
        request.free()
        for use in [request.start, request.wait, request.test, lambda: request.set_step(1), lambda: request.residual]:
            with self.assertRaisesRegex(ValueError, "freed"):
                use()


if __name__ == "__main__":
    main()
