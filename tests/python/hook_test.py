# hook_test.py - the DistributedDataParallel hook and its state, bucket by bucket.
import pickle
import threading
import unittest
import warnings
from unittest import mock

from support import MPI, WORLD, gradcoll, is_same_on_all_ranks, main, numpy, torch_or_skip

torch = torch_or_skip()

import torch.distributed as dist  # noqa: E402

import gradcoll.torch  # noqa: E402

WIDTH = 160  # a layer of 160 x 160 is a bucket that can be compressed
is_alone = WORLD.size == 1
# The codec is used on machines, too, where it does not pay.
ALWAYS = {"gc_compress_if": "always"}


def setUpModule():
    gradcoll.torch.init_process_group()


def tearDownModule():
    dist.destroy_process_group()


def lossy_state(**arguments):
    return gradcoll.torch.State(codec="2:4", options=ALWAYS, **arguments)


def model_with(state, layers=2, bucket_cap_mb=0.1, **arguments):
    torch.manual_seed(7)
    layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(layers)]
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(*layers), bucket_cap_mb=bucket_cap_mb, **arguments
    )
    model.register_comm_hook(state, gradcoll.torch.allreduce_hook)
    return model


def step(model, seed=0):
    """Gradients of one step, as one vector."""
    generator = torch.Generator().manual_seed(100 * seed + WORLD.rank)
    model.zero_grad(set_to_none=True)
    model(torch.randn(8, WIDTH, generator=generator)).square().mean().backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def own_gradients(seed=0):
    """Of this rank alone, without a process group."""
    torch.manual_seed(7)
    return step(torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(2)]), seed)


def average(gradients):
    return torch.from_numpy(WORLD.allreduce(gradients.double().numpy()) / WORLD.size)


def compressed_calls(state):
    return gradcoll.stats(state.attach()).calls_compressed


def error_of(got, expected):
    return ((got.double() - expected).norm() / expected.norm()).item()


class Bucket:
    """As far as the hooks look into a dist.GradBucket."""

    def __init__(self, flat, *parameters):
        self.flat = flat
        self.of = list(parameters)

    def index(self):
        return 0

    def buffer(self):
        return self.flat

    def gradients(self):
        return [self.flat]  # of one parameter

    def parameters(self):
        return self.of

    def is_last(self):
        return True


def check_futures(test, hook, state_of):
    """That they hold the sum from the start of a storage, wherever the bucket's buffer lies."""
    parameter = torch.nn.Parameter(torch.zeros(1000))
    numbers = torch.arange(1000.0) * (WORLD.rank + 1)
    apart, behind = torch.zeros(2000), torch.zeros(1024)
    apart[::2], behind[24:] = numbers, numbers
    expected = torch.arange(1000.0) * (WORLD.size + 1) / 2
    for view in [apart[::2], behind[24:], numbers.clone()]:
        state = state_of(parameter)
        got = hook(state, Bucket(view, parameter)).wait()
        test.assertEqual((got.storage_offset(), got.stride(), got.dtype), (0, (1,), torch.float32))
        torch.testing.assert_close(got, expected)
        state.close()


class Sums(unittest.TestCase):
    def test_exact_averages_the_gradients(self):
        state = gradcoll.torch.State(codec="exact")
        self.assertLess(error_of(step(model_with(state)), average(own_gradients())), 1e-6)
        self.assertEqual(compressed_calls(state), 0)
        state.close()

    def test_average_can_be_left_out(self):
        state = gradcoll.torch.State(codec="exact", average=False)
        # The loss is not scaled, so that gradients are the sum over ranks.
        self.assertLess(error_of(step(model_with(state)), average(own_gradients()) * WORLD.size), 1e-6)
        state.close()

    def test_two_of_four_is_near_and_the_same_on_all_ranks(self):
        state = lossy_state()
        got = step(model_with(state))
        self.assertTrue(is_same_on_all_ranks(got.numpy()))
        if is_alone:
            self.assertLess(error_of(got, average(own_gradients())), 1e-6)
        else:
            self.assertGreater(compressed_calls(state), 0)
            self.assertTrue(0.01 < error_of(got, average(own_gradients())) < 0.8)
        state.close()

    def test_small_buckets_stay_exact(self):
        state = lossy_state(min_bytes=10**9)
        self.assertLess(error_of(step(model_with(state)), average(own_gradients())), 1e-6)
        self.assertEqual(compressed_calls(state), 0)
        state.close()

    def test_warm_up_is_exact_and_ends(self):
        state = lossy_state(warmup_steps=2)
        model = model_with(state)
        for number in range(4):
            before = compressed_calls(state)
            step(model)
            self.assertEqual(state.step, number + 1)
            self.assertEqual(compressed_calls(state) > before, number >= 2 and not is_alone)
        state.close()

    def test_feedback_makes_up_for_what_was_dropped(self):
        errors = []
        for feedback in [True, False]:
            state = lossy_state(error_feedback=feedback)
            model = model_with(state)
            step(model)  # after which the buckets are laid out anew
            total = sum(step(model).double() for _ in range(10))  # the same gradients ten times
            errors.append(error_of(total, 10 * average(own_gradients())))
            state.close()
        if not is_alone:
            self.assertLess(errors[0], errors[1] / 2)

    def test_the_users_communicator_keeps_its_settings(self):
        comm = WORLD.Dup()
        gradcoll.set_codec(comm, "bf16")
        state = gradcoll.torch.State(comm, codec="2:4", options={"gc_codec": "down=bf16", **ALWAYS})
        step(model_with(state))
        self.assertEqual(gradcoll.get_option(state.attach(), "gc_codec"), "2:4,down=bf16")
        self.assertEqual(gradcoll.get_option(comm, "gc_codec"), "bf16")
        self.assertEqual(gradcoll.stats(comm).calls_tree, 0)
        state.close()
        comm.Free()

    def test_gradients_of_16_bits(self):
        for dtype in [torch.float16, torch.bfloat16]:  # Gloo has no bfloat16, so that no model is made
            state = lossy_state()
            parameter = torch.nn.Parameter(torch.zeros(64 * 1024, dtype=dtype))
            for seed in range(3):
                generator = torch.Generator().manual_seed(10 * seed + WORLD.rank)
                gradients = torch.randn(64 * 1024, generator=generator).to(dtype)
                got = gradcoll.torch.allreduce_hook(state, Bucket(gradients, parameter)).wait()
                self.assertEqual(got.data_ptr(), gradients.data_ptr())
                self.assertTrue(is_same_on_all_ranks(got.float().numpy()))
            self.assertEqual(compressed_calls(state), 0 if is_alone else 3)
            self.assertEqual(state.step, 3)
            state.close()


class Buckets(unittest.TestCase):
    def test_residuals_follow_the_buckets(self):
        state = lossy_state()
        model = model_with(state, layers=4)
        layouts = []
        for _ in range(3):
            step(model)
            layouts.append([entry["shapes"] for entry in state.state_dict()["residuals"]])
        if not is_alone:  # DistributedDataParallel reverses the order of the biases and weights
            self.assertEqual(layouts[1], layouts[2])
        for layout, entry in zip(layouts[2], state.state_dict()["residuals"]):
            self.assertEqual(sum(int(numpy.prod(shape)) for shape in layout), entry["count"])
        state.close()

    def test_a_second_model_with_one_state_begins_with_zeros(self):
        state = lossy_state()
        first, second = [step(model_with(state)) for _ in range(2)]
        self.assertTrue(torch.equal(first, second))
        state.close()


    def test_residuals_can_be_scaled(self):
        outcomes = []
        for factor in [1, 0]:
            state = lossy_state()
            model = model_with(state)
            step(model)
            step(model)
            state.scale_residuals(factor)
            outcomes.append(step(model))
            state.close()
        self.assertEqual(torch.equal(*outcomes), is_alone)

    def test_closed_states_can_be_used_again(self):
        state = lossy_state()
        model = model_with(state)
        step(model)
        state.close()
        step(model)
        self.assertEqual(state.step, 2)
        state.close()


class Checkpoints(unittest.TestCase):
    def trained(self):
        state = lossy_state()
        model = model_with(state)
        for number in range(3):
            step(model, number)
        return state, model

    def test_a_restored_state_goes_on_as_if_nothing_had_happened(self):
        state, model = self.trained()
        saved = state.state_dict()
        self.assertEqual(saved["step"], 3)
        expected = step(model, 3)
        restored, model = self.trained()
        step(model, 8)
        step(model, 9)  # other residuals than those that are restored
        restored.load_state_dict(saved)
        self.assertEqual(restored.step, 3)
        self.assertTrue(torch.equal(step(model, 3), expected))
        state.close()
        restored.close()

    def test_a_pickled_state_keeps_step_and_residuals(self):
        state, model = self.trained()
        copy = pickle.loads(pickle.dumps(state))
        self.assertEqual((copy.codec, copy.step), ("2:4", 3))
        copy.attach()
        self.assertEqual(copy.state_dict(), state.state_dict())
        state.close()
        copy.close()

    def test_a_pickled_state_of_another_communicator_warns(self):
        comm = WORLD.Dup()
        state = gradcoll.torch.State(comm)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pickle.loads(pickle.dumps(state))
        self.assertIn("MPI.COMM_WORLD", str(caught[0].message))
        comm.Free()

    def test_bad_checkpoints_are_refused_on_all_ranks(self):
        state, model = self.trained()
        saved = state.state_dict()
        damaged = [{**saved, "rank": WORLD.rank + 1}, {**saved, "step": -1}, {"step": 3}]
        if not is_alone:
            entry = saved["residuals"][0]
            damaged.append({**saved, "residuals": [{**entry, "bytes": entry["bytes"][:-1]}]})
        for bad in damaged:
            # Only the last rank's checkpoint is bad, and every rank says so.
            with self.assertRaises((ValueError, KeyError, gradcoll.Error)):
                state.load_state_dict(bad if WORLD.rank == WORLD.size - 1 else saved)
        self.assertEqual(state.state_dict(), saved)
        state.close()


class Futures(unittest.TestCase):
    """torch reads what a future holds from the start of its storage, whatever the tensor's offset and strides."""

    def test_they_hold_whole_storages_in_order(self):
        check_futures(self, gradcoll.torch.allreduce_hook, lambda parameter: gradcoll.torch.State(codec="exact"))

    def test_a_hook_around_it_that_halves_the_bytes(self):
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_wrapper

        state = gradcoll.torch.State(codec="exact")
        torch.manual_seed(7)
        layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(2)]
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.1)
        model.register_comm_hook(state, fp16_compress_wrapper(gradcoll.torch.allreduce_hook))
        for seed in range(3):
            self.assertLess(error_of(step(model, seed), average(own_gradients(seed))), 2e-3)
        state.close()


class Errors(unittest.TestCase):
    def test_gradients_of_an_embedding_that_are_sparse(self):
        sparse = torch.zeros(4, 4).to_sparse()
        state = gradcoll.torch.State()
        with self.assertRaisesRegex(TypeError, "layout torch.sparse_coo.*sparse=False"):
            gradcoll.torch.allreduce_hook(state, Bucket(sparse))
        state.close()

    def test_arguments(self):
        for arguments, kind, words in [
            ({"comm": 3}, TypeError, "comm is 3"),
            ({"codec": None}, TypeError, "codec is None"),
            ({"warmup_steps": -1}, ValueError, "warmup_steps is -1"),
            ({"min_bytes": 1.5}, TypeError, "min_bytes is 1.5"),
        ]:
            with self.assertRaisesRegex(kind, words):
                gradcoll.torch.State(**arguments)
        with self.assertRaisesRegex(TypeError, "state is None"):
            gradcoll.torch.allreduce_hook(None, None)
        with self.assertRaisesRegex(gradcoll.Error, "3:4"):
            gradcoll.torch.State(codec="3:4").attach()

    def test_ranks_that_differ(self):
        if is_alone:
            return
        with self.assertRaisesRegex(ValueError, f"average is True on rank 0 and False on rank {WORLD.size - 1}"):
            gradcoll.torch.State(average=WORLD.rank < WORLD.size - 1).attach()

    def test_ranks_that_are_not_those_of_the_process_group(self):
        if is_alone:
            return
        reverse = WORLD.Split(0, -WORLD.rank)
        with self.assertRaisesRegex(ValueError, "process group as rank"):
            gradcoll.torch.State(reverse).attach()
        reverse.Free()

    def test_an_error_in_the_hook_comes_out_of_backward(self):
        model = model_with(gradcoll.torch.State(codec="3:4"))
        with self.assertRaisesRegex(Exception, "3:4"):
            step(model)

    def test_the_backward_pass_goes_on_meanwhile(self):
        """Where MPI may be called from several threads; else the sum is there when the hook returns."""
        is_beside = MPI.Query_thread() == MPI.THREAD_MULTIPLE
        state, may_begin, really = gradcoll.torch.State(), threading.Event(), gradcoll.torch.allreduce

        def when_told(*arguments, **named):
            self.assertTrue(not is_beside or may_begin.wait(60))
            return really(*arguments, **named)

        with mock.patch.object(gradcoll.torch, "allreduce", when_told):
            futures = [gradcoll.torch.allreduce_hook(state, Bucket(torch.full((1000,), float(WORLD.rank + i)))) for i in range(3)]
            self.assertEqual([future.done() for future in futures], 3 * [not is_beside])
            may_begin.set()
            for number, future in enumerate(futures):
                self.assertTrue(torch.equal(future.wait(), torch.full((1000,), (WORLD.size - 1) / 2 + number)))
        self.assertEqual(state.step, 3)
        state.close()

    def test_a_bucket_on_another_device_is_refused(self):
        state = gradcoll.torch.State()
        with self.assertRaisesRegex(TypeError, "bucket's buffer is on meta; allowed are CPU and CUDA"):
            gradcoll.torch.allreduce_hook(state, Bucket(torch.zeros(4, device="meta")))
        state.close()


if __name__ == "__main__":
    main()
