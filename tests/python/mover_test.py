# mover_test.py - saved tensors follow a plan: gradients are the same to the last bit, in half the memory.
import json
import os
import subprocess
import tempfile
import unittest

from support import gradcoll, main, torch_or_skip

torch = torch_or_skip()

import gradcoll.torch  # noqa: E402

GRADCOLL_MOVE = os.environ["GRADCOLL_TEST_MOVE"]
WIDTH, SAMPLES, LAYERS = 64, 256, 8
CLUSTER = {"device_memory": "1GiB", "host_memory": "1GiB", "device_tflops": 1, "device_memory_gbytes_per_s": 10,
           "link_gbytes_per_s": 4}


class Layer(torch.nn.Module):
    """Keeps views of one storage, something twice, and what does not lie as it was made."""

    def __init__(self):
        super().__init__()
        self.wide, self.back = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        query, key, value = self.wide(x).view(SAMPLES, 3, WIDTH).unbind(1)
        weights = torch.softmax(query @ key.t() / 8, -1)
        mixed = (weights @ value).t().contiguous().t()
        return x + torch.tanh(self.back(mixed)) * mixed


def network():
    torch.manual_seed(3)
    return torch.nn.ModuleList(Layer() for _ in range(LAYERS))


def inputs(seed):
    return torch.randn(SAMPLES, WIDTH, generator=torch.Generator().manual_seed(seed), requires_grad=True)


def run(layers, follows, seeds=(1,)):
    """A step of a micro-batch a seed, all forwards first; what gradients it gives."""
    layers.zero_grad()
    leaves, losses = [inputs(seed) for seed in seeds], []
    with follows.step():
        for micro_batch, x in enumerate(leaves):
            for n, layer in enumerate(layers):
                with follows.layer(f"layer {n}", *([micro_batch] if len(seeds) > 1 else [])):
                    x = layer(x)
            losses.append(x.square().sum())
            del x
        for loss in losses:
            loss.backward()
    return [leaf.grad for leaf in leaves] + [parameter.grad.clone() for parameter in layers.parameters()]


class Plain:
    """Follows nothing."""

    def step(self):
        return torch.enable_grad()

    def layer(self, *_):
        return torch.enable_grad()


def all_equal(ours, plain):
    return len(ours) == len(plain) and all(torch.equal(a, b) for a, b in zip(ours, plain))


class SavedTensors(unittest.TestCase):
    """What is more than a storage and a view stays as it is."""

    def test_conjugates_and_negatives(self):
        def gradients(layer):
            torch.manual_seed(5)
            x, w = (torch.randn(64, 64, dtype=torch.complex64, requires_grad=True) for _ in range(2))
            with layer:
                y = x.conj() @ w.mul(2).conj() + x.conj().imag * w.real
            y.abs().sum().backward()
            return [x.grad, w.grad]

        recorder = gradcoll.torch.LayerRecorder()
        with recorder.step():
            ours = gradients(recorder.layer("only"))
        self.assertTrue(all_equal(ours, gradients(torch.enable_grad())))

    def test_sparse_ones(self):
        def gradient(layer):
            sparse = torch.eye(64).to_sparse()
            x = torch.ones(64, 64, requires_grad=True)
            with layer:
                y = torch.sparse.mm(sparse, x)
            y.sum().backward()
            return [x.grad]

        recorder = gradcoll.torch.LayerRecorder()
        with recorder.step():
            ours = gradient(recorder.layer("only"))
        self.assertTrue(all_equal(ours, gradient(torch.enable_grad())))


class Movers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, value=None):
        path = os.path.join(self.folder, name)
        if value is not None:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(value, file)
        return path

    def record(self, layers):
        recorder = gradcoll.torch.LayerRecorder(layers.parameters())
        run(layers, recorder)  # times of the first step are none
        gradients = run(layers, recorder)
        return recorder, gradients

    def plan(self, layers, share, micro_batches=1):
        """A plan for `share` of what the layers keep."""
        recorder, _ = self.record(layers)
        model = recorder.model()
        kept = sum(tensor["bytes"] for layer in model["layers"] for tensor in layer["kept"])
        plan = self.path("plan.json")
        subprocess.run([GRADCOLL_MOVE, "--model", self.path("model.json", model), "--parallel",
                        f"micro_batches={micro_batches},schedule=gpipe", "--cluster", self.path("cluster.json", CLUSTER),
                        "--device-memory", str(int(micro_batches * kept * share)), "--least", "4K", "--out", plan],
                       check=True, stdout=subprocess.DEVNULL)
        return plan

    def test_what_is_recorded_is_what_the_layers_keep(self):
        layers = network()
        recorder, gradients = self.record(layers)
        self.assertTrue(all_equal(gradients, run(layers, Plain())))
        model = recorder.model()
        self.assertEqual([f"layer {n}" for n in range(LAYERS)], [layer["name"] for layer in model["layers"]])
        sizes = sorted(tensor["bytes"] for tensor in model["layers"][3]["kept"])
        rows = 4 * SAMPLES * WIDTH
        # Input, query with key and value, softmax, its product with value as it lies for the next product, tanh.
        self.assertIn(3 * rows, sizes)
        self.assertIn(4 * SAMPLES * SAMPLES, sizes)
        self.assertGreater(model["layers"][3]["backward_us"], 0)
        self.assertNotIn(4 * WIDTH * WIDTH, sizes)  # a parameter

    def test_gradients_are_the_same_in_half_the_memory(self):
        layers = network()
        plain = run(layers, Plain())
        with gradcoll.torch.Mover(self.plan(layers, 0.5), parameters=layers.parameters()) as mover:
            for _ in range(3):
                self.assertTrue(all_equal(run(layers, mover), plain))
            stats = mover.stats
            self.assertGreater(stats.moves, 0)
            self.assertEqual(stats.unplanned_bytes, 0)
            self.assertLessEqual(stats.peak_bytes, self.device_bytes())
            self.assertLessEqual(stats.overlap, 1)

    def device_bytes(self):
        with open(self.path("plan.json"), encoding="utf-8") as file:
            return json.load(file)["inputs"]["device_memory"]

    def test_micro_batches_have_tensors_of_their_own(self):
        layers = network()
        plain = run(layers, Plain(), seeds=(1, 2))
        with gradcoll.torch.Mover(self.plan(layers, 0.6, 2), parameters=layers.parameters()) as mover:
            self.assertTrue(all_equal(run(layers, mover, seeds=(1, 2)), plain))
            self.assertGreater(mover.stats.moves, 0)

    def test_what_the_plan_does_not_know_stays(self):
        layers = network()
        plan = self.plan(layers, 0.5)
        larger = torch.nn.ModuleList(
            torch.nn.Sequential(layer, torch.nn.Linear(WIDTH, 5 * WIDTH), torch.nn.Tanh(), torch.nn.Linear(5 * WIDTH, WIDTH))
            for layer in layers)
        plain = run(larger, Plain())
        with gradcoll.torch.Mover(plan, parameters=larger.parameters()) as mover:
            self.assertTrue(all_equal(run(larger, mover), plain))
            self.assertGreater(mover.stats.unplanned_bytes, 0)

    def test_nothing_moves_where_all_fits(self):
        layers = network()
        plain = run(layers, Plain())
        with gradcoll.torch.Mover(self.plan(layers, 2), parameters=layers.parameters()) as mover:
            for _ in range(2):
                self.assertTrue(all_equal(run(layers, mover), plain))
            self.assertEqual(mover.stats.moves, 0)
            # Operators run with their layers all the same: backward in turn, none at once with the one before.
            backward = [op for op in mover._mover.operators if op.kind == "backward"]
            self.assertEqual(len(backward), LAYERS)
            for before, after in zip(backward, backward[1:]):
                self.assertGreater(before.measured_end_us - before.measured_begin_us, 1)
                self.assertGreaterEqual(after.measured_begin_us, before.measured_end_us)

    def check_equal(self, layers, run_with):
        """Steps by a plan that moves have the gradients of steps without, bit by bit."""
        plan = self.plan(layers, 0.5)
        plain = run_with(layers, Plain())
        with gradcoll.torch.Mover(plan, parameters=layers.parameters()) as mover:
            for _ in range(2):
                self.assertTrue(all_equal(run_with(layers, mover), plain))
            return mover.stats

    @unittest.skipUnless(hasattr(getattr(torch, "amp", None), "GradScaler"), "torch.amp.GradScaler is not there")
    def test_autocast_with_a_grad_scaler(self):
        def scaled(layers, follows):
            scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
            optimizer = torch.optim.SGD(layers.parameters(), lr=0.0)
            optimizer.zero_grad()
            x = inputs(1)
            with follows.step(), torch.autocast("cpu", dtype=torch.bfloat16):
                for n, layer in enumerate(layers):
                    with follows.layer(f"layer {n}"):
                        x = layer(x)
                scaler.scale(x.square().sum()).backward()
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            return [parameter.grad.clone() for parameter in layers.parameters()] + [torch.tensor(scaler.get_scale())]

        # What is saved in bfloat16 has other sizes than the plan's tensors, so that it stays, and what is not moves.
        self.assertGreater(self.check_equal(network(), scaled).moves, 0)

    def test_checkpointed_layers(self):
        from torch.utils.checkpoint import checkpoint

        def every_other(use_reentrant):
            def step(layers, follows):
                wrapped = [layer if n % 2 else (lambda x, layer=layer: checkpoint(layer, x, use_reentrant=use_reentrant))
                           for n, layer in enumerate(layers)]
                layers.zero_grad()
                x = leaf = inputs(1)
                with follows.step():
                    for n, layer in enumerate(wrapped):
                        with follows.layer(f"layer {n}"):
                            x = layer(x)
                    x.square().sum().backward()
                return [leaf.grad] + [parameter.grad.clone() for parameter in layers.parameters()]

            return step

        for use_reentrant in (False, True):
            with self.subTest(use_reentrant=use_reentrant):
                self.assertGreater(self.check_equal(network(), every_other(use_reentrant)).moves, 0)

    @unittest.skipUnless(hasattr(torch, "compile"), "torch.compile is not there")
    def test_compiled_layers(self):
        def compiled(layers, follows):
            if not hasattr(layers, "compiled"):
                layers.compiled = [torch.compile(layer, backend="aot_eager") for layer in layers]
            layers.zero_grad()
            x = leaf = inputs(1)
            with follows.step():
                for n, layer in enumerate(layers.compiled):
                    with follows.layer(f"layer {n}"):
                        x = layer(x)
                x.square().sum().backward()
            return [leaf.grad] + [parameter.grad.clone() for parameter in layers.parameters()]

        self.check_equal(network(), compiled)

    def test_bad_use_is_named(self):
        layers = network()
        plan = self.plan(layers, 0.5)
        with self.assertRaises(gradcoll.Error):
            gradcoll.torch.Mover(self.path("none.json"))
        with gradcoll.torch.Mover(plan) as mover:
            with self.assertRaisesRegex(ValueError, "layer layer 0 runs outside of step"), mover.layer("layer 0"):
                pass
            with self.assertRaisesRegex(ValueError, "'other', micro-batch 0: the plan has none"), mover.step():
                with mover.layer("other"):
                    pass
        with self.assertRaisesRegex(ValueError, "has been freed"):
            mover.stats
        with gradcoll.torch.Mover(plan) as mover, self.assertRaisesRegex(ValueError, "in another order"), mover.step():
            for n in (1, 0):
                with mover.layer(f"layer {n}"):
                    pass
        recorder = gradcoll.torch.LayerRecorder()
        with self.assertRaisesRegex(ValueError, "layer a runs twice"), recorder.step():
            for _ in range(2):
                with recorder.layer("a"):
                    pass
        with self.assertRaisesRegex(ValueError, "layers do not nest"), recorder.layer("b"), recorder.layer("c"):
            pass


if __name__ == "__main__":
    main()
