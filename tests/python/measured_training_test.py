"""Sums of scripts/measure training, run by mpirun: what is exempt, warm-up, feedback, bytes, local steps, and a wrong scale that is seen."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "measure_parts"))

from support import WORLD as COMM, main, torch_or_skip  # noqa: E402

torch = torch_or_skip()

from training_parts import sums  # noqa: E402
from training_parts.ways import Way  # noqa: E402


def tensors(seed=0):
    torch.manual_seed(100 * seed + COMM.rank)
    return [torch.randn(64, 100), torch.randn(100), torch.randn(50, 40)]


def named():
    return list(zip(("layer.weight", "layer.bias", "embed.weight"), tensors()))


def means(of):
    return [torch.stack(COMM.allgather(tensor)).mean(0) for tensor in of]


class Sums(unittest.TestCase):
    def sums(self, way, warmup_steps=0):
        made = sums.LibrarySum(way, named(), warmup_steps)
        self.addCleanup(made.free)
        return made

    def averaged(self, made, seed=0, **arguments):
        mine = tensors(seed)
        wanted = means(mine)
        made.average(mine, **arguments)
        return mine, wanted

    def assertNear(self, mine, wanted, part=1e-5):
        self.assertLess(float((mine - wanted).norm()), part * float(wanted.norm()))

    def test_exact_sums_are_means_of_all_ranks(self):
        for mine, wanted in zip(*self.averaged(self.sums(Way()))):
            self.assertNear(mine, wanted)

    def test_biases_and_embeddings_are_exempt_if_asked(self):
        for exempt in (True, False):
            mine, wanted = self.averaged(self.sums(Way("int4", exempt=exempt)))
            off = [float((a - b).norm() / b.norm()) for a, b in zip(mine, wanted)]
            self.assertEqual([part > 0.01 for part in off], [True, not exempt, not exempt])

    def test_warm_up_is_exact_and_then_ends(self):
        made = self.sums(Way("int4", warmup=0.1), warmup_steps=2)
        off = []
        for _ in range(3):
            mine, wanted = self.averaged(made)
            off.append(float((mine[0] - wanted[0]).norm() / wanted[0].norm()) > 0.01)
        self.assertEqual(off, [False, False, True])

    def test_feedback_brings_later_what_was_dropped(self):
        off = {}
        for feedback in (True, False):
            made, total, steps = self.sums(Way("2:4", feedback)), 0, 40
            for _ in range(steps):
                mine, wanted = self.averaged(made)
                total = total + mine[0]
            off[feedback] = float((total / steps - wanted[0]).norm() / wanted[0].norm())
        self.assertLess(off[True], 0.1)
        self.assertGreater(off[False], 0.2)

    def test_half_precision_comes_back_in_single(self):
        mine, wanted = self.averaged(self.sums(Way(half=True)))
        self.assertEqual(mine[0].dtype, torch.float32)
        self.assertNear(mine[0], wanted[0], 2e-3)

    def test_a_wrong_scale_is_seen(self):
        gains = []
        for scale in (1.0, 0.5):
            made = self.sums(Way("int8", scale=scale))
            self.averaged(made, watch=True)
            gains += made.gains
        self.assertAlmostEqual(gains[0], 1, delta=0.01)
        self.assertAlmostEqual(gains[1], 0.5, delta=0.01)

    def test_bytes_are_those_of_the_codec(self):
        ratios = {}
        for name, way in (("exact", Way()), ("int8", Way("int8")), ("half", Way(half=True)), ("exempt", Way("int8", exempt=True))):
            made = self.sums(way)
            self.averaged(made)
            sent, exact = made.bytes_sent()
            ratios[name] = exact / sent
        self.assertEqual(ratios["exact"], 1)
        self.assertEqual(ratios["half"], 2)
        self.assertTrue(3 < ratios["int8"] < 4, ratios)
        self.assertTrue(1 < ratios["exempt"] < ratios["int8"], ratios)


class LocalSteps(unittest.TestCase):
    def test_ranks_meet_every_so_many_steps_and_at_the_end(self):
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.randn(10))
        made = sums.LibrarySum(Way(local_steps=3), [("weight", weight.detach())], 0)
        self.addCleanup(made.free)
        outer = sums.OuterSteps([weight], made, 3)
        alike = []
        for number in range(8):
            with torch.no_grad():
                weight -= 0.1 * (COMM.rank + 1)
            outer.step(is_last=number == 7)
            alike.append(all(torch.equal(other, weight.detach()) for other in COMM.allgather(weight.detach())))
        self.assertEqual(alike, [False, False, True, False, False, True, False, True])
        sent, exact = sums.bytes_beside_dense(made, 8, made.way)
        self.assertEqual(exact, round(sent * 8 / 3))

    def test_the_first_outer_step_is_nesterovs(self):
        weight = torch.nn.Parameter(torch.zeros(4))
        made = sums.LibrarySum(Way(local_steps=1), [("weight", weight.detach())], 0)
        self.addCleanup(made.free)
        outer = sums.OuterSteps([weight], made, 1)
        with torch.no_grad():
            weight -= 1.0
        outer.step(is_last=True)
        expected = -sums.OUTER_RATE * (1 + sums.OUTER_MOMENTUM)
        self.assertTrue(torch.allclose(weight.detach(), torch.full((4,), expected)))


if __name__ == "__main__":
    main()
