# training_test.py - a classifier trained by DistributedDataParallel: with torch's own allreduce, with exact sums over
# the tree, and with 2:4 and error feedback. Fashion-MNIST if Debian's dataset is installed, else made-up classes.
import gzip
import unittest
from pathlib import Path

from support import WORLD, gradcoll, is_same_on_all_ranks, main, numpy, torch_or_skip

torch = torch_or_skip()

import torch.distributed as dist  # noqa: E402

import gradcoll.torch  # noqa: E402

DATA = Path("/usr/share/datasets/fashion-mnist")
SAMPLES, PIXELS, CLASSES = 4096, 784, 10
BATCH, STEPS = 32, 60


def read_idx(name, count, header, shape):
    with gzip.open(DATA / name) as file:
        file.read(header)
        return numpy.frombuffer(file.read(count * int(numpy.prod(shape))), dtype="uint8").reshape(count, *shape)


def dataset():
    if (DATA / "train-images-idx3-ubyte.gz").exists():
        images = read_idx("train-images-idx3-ubyte.gz", SAMPLES, 16, (PIXELS,)).astype("float32") / 255
        labels = read_idx("train-labels-idx1-ubyte.gz", SAMPLES, 8, ()).astype("int64")
    else:
        random = numpy.random.default_rng(3)
        labels = random.integers(CLASSES, size=SAMPLES)
        images = random.random((CLASSES, PIXELS))[labels] + random.normal(size=(SAMPLES, PIXELS))
    return torch.from_numpy(images.astype("float32")), torch.from_numpy(labels)


def setUpModule():
    gradcoll.torch.init_process_group()


def tearDownModule():
    dist.destroy_process_group()


class Training:
    """One run; everything but the way of summing is the same in all of them."""

    def __init__(self, data, state=None):
        torch.manual_seed(11)
        layers = [torch.nn.Linear(PIXELS, 64), torch.nn.ReLU(), torch.nn.Linear(64, 48), torch.nn.ReLU()]
        network = torch.nn.Sequential(*layers, torch.nn.Linear(48, CLASSES))
        self.images, self.labels = data
        self.model = torch.nn.parallel.DistributedDataParallel(network, bucket_cap_mb=0.1)
        if state is not None:
            self.model.register_comm_hook(state, gradcoll.torch.allreduce_hook)
        self.optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)

    def step(self, number):
        first = (number * WORLD.size + WORLD.rank) * BATCH % SAMPLES
        images, labels = self.images[first : first + BATCH], self.labels[first : first + BATCH]
        self.optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self.model(images), labels).backward()
        self.optimizer.step()

    def gradients(self):
        return torch.cat([parameter.grad.flatten() for parameter in self.model.parameters()]).numpy()

    def weights(self):
        return torch.cat([parameter.detach().flatten() for parameter in self.model.parameters()]).numpy()

    def loss(self):
        """Over a part of the data that is the same on all ranks."""
        with torch.no_grad():
            return torch.nn.functional.cross_entropy(self.model.module(self.images[:1024]), self.labels[:1024]).item()


class ThreeWaysToSum(unittest.TestCase):
    def test_all_learn_alike_and_replicas_stay_equal(self):
        data = dataset()
        exact = gradcoll.torch.State(codec="exact", options={"gc_tree_min_bytes": 0})
        compressed = gradcoll.torch.State(codec="2:4", warmup_steps=5)
        runs = {"torch": Training(data), "exact": Training(data, exact), "2:4": Training(data, compressed)}
        before = runs["torch"].loss()
        for number in range(STEPS):
            for run in runs.values():
                run.step(number)
            if number == 0:
                expected = runs["torch"].gradients()
                scale = numpy.abs(expected).max()
                for name in ("exact", "2:4"):  # which warms up
                    numpy.testing.assert_allclose(runs[name].gradients(), expected, rtol=1e-5, atol=1e-6 * scale)
        losses = {name: run.loss() for name, run in runs.items()}
        if WORLD.rank == 0:
            print(f"loss before {before:.3f}, after {STEPS} steps:", {name: round(x, 4) for name, x in losses.items()})
        for run in runs.values():
            self.assertTrue(is_same_on_all_ranks(run.weights()))
        self.assertLess(losses["torch"], before / 2)
        self.assertAlmostEqual(losses["exact"], losses["torch"], delta=0.1 * losses["torch"])
        self.assertLess(losses["2:4"], 1.35 * losses["torch"])
        self.assertGreater(gradcoll.stats(exact.attach()).calls_tree, 0)
        self.check_compression(gradcoll.stats(compressed.attach()))
        exact.close()
        compressed.close()

    def check_compression(self, stats):
        self.assertGreaterEqual(stats.calls_compressed, STEPS - 5)
        self.assertLess(stats.bytes_sent, 0.7 * stats.bytes_sent_exact)


if __name__ == "__main__":
    main()
