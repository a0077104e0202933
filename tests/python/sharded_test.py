# sharded_test.py - ShardedState: models of fully_shard with a codec, error feedback, checkpoints, and rounded parameters.
import threading
import unittest
import warnings
from unittest import mock

from support import WORLD, main, torch_or_skip

torch = torch_or_skip()
import torch.distributed as dist  # noqa: E402

import gradcoll.torch  # noqa: E402
from gradcoll._torch_backend import Backend  # noqa: E402
from gradcoll._torch_checks import is_one_host  # noqa: E402

RANK, SIZE = WORLD.rank, WORLD.size
ALWAYS = {"gc_compress_if": "always"}
if torch.__version__.startswith("1."):  # Debian's, whose torch.distributed.fsdp cannot even be imported
    print(f"SKIPPED: torch {torch.__version__} has no fully_shard")
    raise SystemExit(0)
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard  # noqa: E402

if not hasattr(FSDPModule, "set_custom_reduce_scatter"):
    print(f"SKIPPED: torch {torch.__version__} has no set_custom_reduce_scatter")
    raise SystemExit(0)

gradcoll.torch.init_process_group(backend="gradcoll")
mesh = dist.device_mesh.init_device_mesh("cpu", (SIZE,))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(50, 96)
        self.first = torch.nn.Linear(96, 255)
        self.norm = torch.nn.LayerNorm(255)
        self.last = torch.nn.Linear(255, 64)
        self.sometimes = torch.nn.Linear(96, 64)

    def forward(self, words, with_unused=True):
        x = self.embedding(words)
        y = self.last(torch.relu(self.norm(self.first(x))))
        return y + self.sometimes(x) if with_unused else y


def network(**arguments):
    torch.manual_seed(3)
    model = Network()
    for part in (model.first, model.last):
        fully_shard(part, mesh=mesh, **arguments)
    return fully_shard(model, mesh=mesh, **arguments)


def batches(steps):
    source = torch.Generator().manual_seed(RANK)
    return [torch.randint(0, 50, (16,), generator=source) for _ in range(steps)]


def gradients(model, words, **arguments):
    model.zero_grad()
    model(words, **arguments).float().square().mean().backward()
    return {name: parameter.grad.full_tensor().clone() for name, parameter in model.named_parameters() if parameter.grad is not None}


def state_of(model, **arguments):
    return gradcoll.torch.ShardedState(model, **{"min_bytes": 0, "options": ALWAYS, **arguments})


class Gradients(unittest.TestCase):
    def test_exact_is_torchs_own(self):
        for arguments in ({"codec": "exact"}, {"codec": "int8", "min_bytes": 1 << 30}, {"codec": "int8", "warmup_steps": 1}):
            model, plain = network(), network()
            state = state_of(model, **arguments)
            words = batches(1)[0]
            mine, theirs = gradients(model, words), gradients(plain, words)
            for name, gradient in theirs.items():
                self.assertTrue(torch.equal(mine[name], gradient), (name, arguments))
            self.assertEqual(state.stats().calls_compressed, 0)
            state.close()

    def test_what_is_lossy(self):
        model, plain = network(), network()
        state = state_of(model, codec="int8")
        words = batches(1)[0]
        mine, theirs = gradients(model, words), gradients(plain, words)
        self.assertEqual(state.stats().calls_compressed, 3)
        for name, exact in theirs.items():
            is_exempt = exact.dim() < 2 or "embedding" in name
            self.assertEqual(torch.equal(mine[name], exact), is_exempt, name)
            self.assertLess((mine[name] - exact).norm(), 0.02 * exact.norm() + 1e-12, name)
        state.close()

    def test_patterns(self):
        model, plain = network(), network()
        state = state_of(model, codec="int8", exempt=["last.*", "some*"])
        words = batches(1)[0]
        mine, theirs = gradients(model, words), gradients(plain, words)
        equal = {name for name in theirs if torch.equal(mine[name], theirs[name])}
        lossy = {"embedding.weight", "first.weight"}
        self.assertEqual(equal, set(theirs) - lossy)
        state.close()

    def test_divide_factors(self):
        for factor, sum_only in ((None, True), (3.0, False)):
            model, plain = network(), network()
            for each in (model, plain):
                for part in (each, each.first, each.last):
                    if factor is not None:
                        part.set_gradient_divide_factor(factor)
                    part.set_force_sum_reduction_for_comms(sum_only)
            state = state_of(model, codec="int16")
            words = batches(1)[0]
            mine, theirs = gradients(model, words), gradients(plain, words)
            for name, exact in theirs.items():
                torch.testing.assert_close(mine[name], exact, rtol=1e-2, atol=1e-3 * float(exact.abs().max()))
            state.close()

    def test_feedback(self):
        """The sum of many lossy gradients is near that of exact ones, which it is not without feedback."""
        errors = {}
        words = batches(1)[0]
        for feedback in (True, False):
            model = network()
            state = state_of(model, codec="1:4", error_feedback=feedback)
            exact = gradients(network(), words)["first.weight"]
            total = sum(gradients(model, words)["first.weight"] for _ in range(40)) / 40
            errors[feedback] = float((total - exact).norm() / exact.norm())
            state.close()
        self.assertLess(errors[True], 0.25 * errors[False], errors)

    def test_bytes(self):
        """Of the exact reduce-scatter, in which a rank sends the shards of all others."""
        words = batches(1)[0]
        for codec, times_fewer in (("int8", 4), ("bf16", 2)):
            model = network()
            state = state_of(model, codec=codec)
            gradients(model, words)
            sent = state.stats()
            self.assertAlmostEqual(sent.bytes_sent_exact / sent.bytes_sent, times_fewer, delta=0.1 * times_fewer, msg=codec)
            if SIZE == 2:
                elements = sum(part.lossy_numel() for part in state._parts)
                self.assertAlmostEqual(sent.bytes_sent_exact / (4 * elements), 1, delta=0.01, msg=codec)
            state.close()

    def test_a_checkpoint_goes_on(self):
        words = batches(1)[0]
        model = network()
        state = state_of(model, codec="2:4")
        for _ in range(3):
            gradients(model, words)
        saved = state.state_dict()
        expected = gradients(model, words)
        other = network()
        restored = state_of(other, codec="2:4")
        gradients(other, words)
        restored.load_state_dict(saved)
        got = gradients(other, words)
        for name in expected:
            self.assertTrue(torch.equal(got[name], expected[name]), name)
        with self.assertRaisesRegex(ValueError, "of another model"):
            restored.load_state_dict({**saved, "parts": saved["parts"][1:]})
        damaged = {**saved, "parts": [{**part, "bytes": part["bytes"][:-1]} for part in saved["parts"]]}
        with self.assertRaises((gradcoll.Error, ValueError)):
            restored.load_state_dict(damaged if RANK == 0 else saved)
        state.close()
        restored.close()

    def test_a_step_without_some_parameters(self):
        words = batches(1)[0]
        model, plain = network(), network()
        state = state_of(model, codec="int8", exempt=["first.*", "last.*", "*embed*"])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            mine = [gradients(model, words, with_unused=False) for _ in range(2)][1]
        theirs = gradients(plain, words, with_unused=False)
        for name, exact in theirs.items():
            self.assertTrue(torch.equal(mine[name], exact), name)
        told = [str(each.message) for each in said if "ShardedState" in str(each.message)]
        self.assertEqual(len(told), 1, told)
        self.assertRegex(told[0], "does not have all of sometimes.weight")
        state.close()

    def test_a_codec_that_does_not_pay_is_not_used(self):
        """All ranks are on one host, which is said once."""
        if not is_one_host(WORLD):
            self.skipTest("over links it pays")
        model, plain = network(), network()
        state = state_of(model, codec="int8", options={"gc_compress_if": "pays"})
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for words in batches(2):
                mine, theirs = gradients(model, words), gradients(plain, words)
                self.assertTrue(all(torch.equal(mine[name], theirs[name]) for name in theirs))
        self.assertEqual(state.stats().calls_compressed, 0)
        self.assertEqual(len([each for each in said if "on one host" in str(each.message)]), 1)
        state.close()

    def test_training(self):
        losses = {}
        for codec in ("exact", "int8"):
            model = network()
            state = state_of(model, codec=codec)
            optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
            for words in batches(30):
                optimizer.zero_grad()
                loss = (model(words) - 1).square().mean()
                loss.backward()
                optimizer.step()
            losses[codec] = WORLD.allreduce(loss.item()) / SIZE
            state.close()
        self.assertLess(abs(losses["int8"] - losses["exact"]), 0.05 * losses["exact"] + 1e-3, losses)

    def test_other_models_are_refused(self):
        with self.assertRaisesRegex(TypeError, "no part that fully_shard has sharded"):
            gradcoll.torch.ShardedState(torch.nn.Linear(2, 2))


class Parameters(unittest.TestCase):
    def test_gathers_go_on_beside_the_program(self):
        for codec in ("exact", "bf16"):
            threads = set()

            def noted(*arguments):
                threads.add(threading.get_ident())
                return really(*arguments)

            really = Backend.gather_into
            model = network()
            state = state_of(model, codec="int8", gather_codec=codec)
            with mock.patch.object(Backend, "gather_into", noted):
                gradients(model, batches(1)[0])
            self.assertEqual(len(threads), 1 if SIZE > 1 else 0)
            self.assertNotIn(threading.get_ident(), threads)
            state.close()

    def test_rounded_within_the_bound(self):
        model, plain = network(), network()
        state = state_of(model, codec="exact", gather_codec="bf16")
        model.unshard()
        plain.unshard()
        for part, other in ((model, plain), (model.first, plain.first), (model.last, plain.last)):
            part.unshard()
            other.unshard()
        names = dict(plain.named_parameters())
        for name, rounded in model.named_parameters():
            exact = names[name].detach()
            is_exempt = exact.dim() < 2 or "embedding" in name
            self.assertEqual(torch.equal(rounded, exact), is_exempt, name)
            self.assertTrue(bool(((rounded - exact).abs() <= exact.abs() * 2.0**-8).all()), name)
            self.assertEqual(len(set(WORLD.allgather(float(rounded.double().sum())))), 1)
        for part in (model, model.first, model.last, plain, plain.first, plain.last):
            part.reshard()
        for name, shard in model.named_parameters():
            self.assertTrue(torch.equal(shard.full_tensor(), dict(plain.named_parameters())[name].full_tensor()), name)
        state.close()

    def test_what_is_rounded_already_is_said_once(self):
        model = network(mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))
        state = state_of(model, codec="exact", gather_codec="bf16")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for words in batches(2):
                gradients(model, words)
        told = [str(each.message) for each in said if "ShardedState" in str(each.message)]
        self.assertEqual(len(told), 1, told)
        self.assertRegex(told[0], "'bf16' is for float32, and torch.bfloat16 travels as it is")
        state.close()


if __name__ == "__main__":
    main()
    dist.destroy_process_group()
