# engine_hook_test.py - DistributedDataParallel's gradients through an engine: sums, what is beside them, checkpoints.
import unittest

from support import MPI, WORLD, gradcoll, is_same_on_all_ranks, main, torch_or_skip

torch = torch_or_skip()

import gradcoll.torch  # noqa: E402
from hook_test import (  # noqa: E402
    Bucket,
    average,
    check_futures,
    error_of,
    own_gradients,
    setUpModule,  # noqa: F401
    step,
    tearDownModule,  # noqa: F401
)

WIDTH = 160
LOSSY = {"gc_compress_if": "always"}
is_alone = WORLD.size == 1
has_threads = MPI.Query_thread() >= MPI.THREAD_MULTIPLE


def pair(layers=2, bucket_cap_mb=0.1, **arguments):
    """A model and its state."""
    torch.manual_seed(7)
    network = torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(layers)])
    model = torch.nn.parallel.DistributedDataParallel(network, bucket_cap_mb=bucket_cap_mb)
    state = gradcoll.torch.EngineState(model, **arguments)
    model.register_comm_hook(state, gradcoll.torch.engine_hook)
    return model, state


def holder_of(parameter):
    module = torch.nn.Module()
    module.w = parameter
    return module


@unittest.skipUnless(has_threads, "MPI without MPI_THREAD_MULTIPLE")
class Sums(unittest.TestCase):
    def test_gradients_are_averaged_step_after_step(self):
        model, state = pair()
        for seed in range(4):  # buckets are laid out anew after the first
            self.assertLess(error_of(step(model, seed), average(own_gradients(seed))), 1e-6)
        self.assertEqual(state.step, 4)
        state.close()

    def test_average_can_be_left_out(self):
        model, state = pair(average=False)
        self.assertLess(error_of(step(model), average(own_gradients()) * WORLD.size), 1e-6)
        state.close()

    def test_the_hook_does_not_wait_for_other_ranks(self):
        parameter = torch.nn.Parameter(torch.zeros(1000))
        state = gradcoll.torch.EngineState(holder_of(parameter))
        state.attach()
        if WORLD.rank > 0:
            WORLD.Barrier()
        future = gradcoll.torch.engine_hook(state, Bucket(torch.full((1000,), float(WORLD.rank)), parameter))
        if WORLD.rank == 0:
            self.assertTrue(is_alone or not future.done())
            WORLD.Barrier()
        self.assertEqual(future.wait()[7].item(), (WORLD.size - 1) / 2)
        state.close()

    def test_gradients_that_are_laid_out_like_pictures(self):
        torch.manual_seed(3)
        network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 3))
        network = network.to(memory_format=torch.channels_last)
        model = torch.nn.parallel.DistributedDataParallel(network)
        state = gradcoll.torch.EngineState(model)
        model.register_comm_hook(state, gradcoll.torch.engine_hook)
        for seed in range(3):
            generator = torch.Generator().manual_seed(100 * seed + WORLD.rank)
            images = torch.randn(2, 3, 9, 9, generator=generator).contiguous(memory_format=torch.channels_last)
            parameters = list(network.parameters())
            own = torch.autograd.grad(network(images).square().mean(), parameters)
            model.zero_grad(set_to_none=True)
            model(images).square().mean().backward()
            for parameter, mine in zip(parameters, own):
                self.assertLess(error_of(parameter.grad, average(mine.contiguous())), 1e-6)
        state.close()

    def test_compressed_sums_are_near_and_the_same_on_all_ranks(self):
        for codec, strategy in [("2:4", "tree"), ("int8", "ring"), ("bf16", "ps")]:
            model, state = pair(codec=codec, options={**LOSSY, "gc_engine": strategy})
            got = step(model)
            self.assertTrue(is_same_on_all_ranks(got.numpy()))
            self.assertLess(error_of(got, average(own_gradients())), 0.8)
            names = set() if is_alone else {"0.weight", "1.weight"}  # biases are short
            self.assertEqual(set(state.state_dict()["residuals"]), names)
            state.close()

    def test_feedback_makes_up_for_what_was_dropped(self):
        errors = []
        for feedback in [True, False]:
            model, state = pair(codec="2:4", error_feedback=feedback, options=LOSSY)
            total = sum(step(model).double() for _ in range(10))
            errors.append(error_of(total, 10 * average(own_gradients())))
            state.close()
        if not is_alone:
            self.assertLess(errors[0], errors[1] / 2)

    def test_warm_up_is_exact_and_ends(self):
        model, state = pair(codec="2:4", warmup_steps=2, options=LOSSY)
        for number in range(4):
            error = error_of(step(model), average(own_gradients()))
            self.assertEqual(error > 1e-3, number >= 2 and not is_alone)
        state.close()


@unittest.skipUnless(has_threads, "MPI without MPI_THREAD_MULTIPLE")
class Futures(unittest.TestCase):
    def test_they_hold_whole_storages_in_order(self):
        check_futures(self, gradcoll.torch.engine_hook, lambda one: gradcoll.torch.EngineState(holder_of(one)))


@unittest.skipUnless(has_threads, "MPI without MPI_THREAD_MULTIPLE")
class Checkpoints(unittest.TestCase):
    # Which gradients are packed together depends on time, and bits with it.
    options = {**LOSSY, "gc_reproducible": "on"}

    def trained(self):
        model, state = pair(codec="2:4", warmup_steps=1, options=self.options)
        for number in range(3):
            step(model, number)
        return model, state

    def test_a_restored_state_goes_on_as_if_nothing_had_happened(self):
        model, state = self.trained()
        saved = state.state_dict()
        expected = step(model, 3)
        state.close()
        model, restored = pair(codec="2:4", warmup_steps=1, options=self.options)
        restored.load_state_dict(saved)
        self.assertEqual(restored.step, 3)
        self.assertTrue(torch.equal(step(model, 3), expected))
        restored.close()

    def test_residuals_can_be_scaled(self):
        outcomes = []
        for factor in [1, 0]:
            model, state = self.trained()
            state.scale_residuals(factor)
            outcomes.append(step(model))
            state.close()
        self.assertEqual(torch.equal(*outcomes), is_alone)

    def test_bad_checkpoints_are_refused_on_all_ranks(self):
        _, state = self.trained()
        saved = state.state_dict()
        damaged = [{**saved, "rank": WORLD.rank + 1}, {**saved, "step": -1}, {"step": 3}]
        if not is_alone:
            residuals = saved["residuals"]
            damaged.append({**saved, "residuals": {**residuals, "0.weight": residuals["0.weight"][:-1]}})
            damaged.append({**saved, "residuals": {**residuals, "0.bias": b""}})
        for bad in damaged:
            with self.assertRaises((ValueError, KeyError, gradcoll.Error)):
                state.load_state_dict(bad if WORLD.rank == WORLD.size - 1 else saved)
            self.assertEqual(state.state_dict(), saved)
        state.close()


class Errors(unittest.TestCase):
    def test_arguments(self):
        module = torch.nn.Linear(2, 2)
        for arguments, kind, words in [
            ({"model": 3}, TypeError, "model is 3"),
            ({"model": module, "comm": 3}, TypeError, "comm is 3"),
            ({"model": module, "codec": None}, TypeError, "codec is None"),
            ({"model": module, "warmup_steps": -1}, ValueError, "warmup_steps is -1"),
        ]:
            with self.assertRaisesRegex(kind, words):
                gradcoll.torch.EngineState(**arguments)
        with self.assertRaisesRegex(TypeError, "state is None"):
            gradcoll.torch.engine_hook(None, None)

    def test_an_engine_cannot_work_beside_the_backward_pass_without_threads(self):
        if has_threads:
            self.skipTest("MPI has MPI_THREAD_MULTIPLE")
        model, _ = pair()
        with self.assertRaisesRegex(Exception, "without MPI_THREAD_MULTIPLE"):
            step(model)

    @unittest.skipUnless(has_threads, "MPI without MPI_THREAD_MULTIPLE")
    def test_errors_come_out_of_backward(self):
        model, _ = pair(codec="3:4")
        with self.assertRaisesRegex(Exception, "3:4"):
            step(model)
        if is_alone:
            return
        state = gradcoll.torch.EngineState(torch.nn.Linear(10 + (WORLD.rank == 0), 1))
        weight = next(iter(state._parameters.values()))
        future = gradcoll.torch.engine_hook(state, Bucket(torch.zeros(weight.numel()), weight))
        with self.assertRaisesRegex(Exception, 'gradient "weight": .*11 elements'):
            future.wait()
        state.close()

    @unittest.skipUnless(has_threads, "MPI without MPI_THREAD_MULTIPLE")
    def test_a_parameter_of_another_model(self):
        state = gradcoll.torch.EngineState(torch.nn.Linear(2, 2))
        with self.assertRaisesRegex(ValueError, "is not one of the model's"):
            gradcoll.torch.engine_hook(state, Bucket(torch.zeros(3), torch.nn.Parameter(torch.zeros(3))))
        state.close()


if __name__ == "__main__":
    main()
