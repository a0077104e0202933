# plain_mover_test.py - a plan carried out from Python without a framework: bytes come back as they were.
import json
import os
import subprocess
import tempfile
import time
import unittest

import numpy
from support import gradcoll, main

GRADCOLL_MOVE = os.environ["GRADCOLL_TEST_MOVE"]
LAYERS, BYTES = 8, 300_000
CLUSTER = {"device_memory": 1_700_000, "host_memory": "1GiB", "device_tflops": 1, "device_memory_gbytes_per_s": 10,
           "link_gbytes_per_s": 1}


def pattern(tensor, step, size):
    return numpy.arange(size, dtype="u4").view("u1")[:size] + numpy.uint8(tensor * 7 + step)


class PlainMovers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, value):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)
        return path

    def plan(self, forward_us, parameters=1000):
        model = {"layers": [{"name": "l", "repeat": LAYERS, "parameters": parameters, "forward_us": forward_us,
                             "kept": [{"name": "out", "bytes": BYTES}], "backward_us": 2 * forward_us}]}
        plan = os.path.join(self.folder, "plan.json")
        subprocess.run([GRADCOLL_MOVE, "--model", self.path("model.json", model), "--parallel", "micro_batches=1",
                        "--cluster", self.path("cluster.json", CLUSTER), "--least", "4K", "--out", plan], check=True,
                       stdout=subprocess.DEVNULL)
        return plan

    def run_step(self, mover, step, seconds=0.0):
        with mover.step():
            for op in range(mover.operator_count):
                with mover.operator(op):
                    for n, tensor in enumerate(mover.tensors):
                        if tensor.stays or op not in (tensor.first_use, tensor.last_use):
                            continue
                        data = numpy.frombuffer(mover.data(n), dtype="u1")
                        self.assertEqual(tensor.bytes, len(data))
                        expected = pattern(n, step, tensor.bytes)
                        if tensor.first_use == op:
                            data[:] = expected
                        else:
                            self.assertTrue(numpy.array_equal(expected, data), f"tensor {n}")
                    time.sleep(seconds)

    def test_bytes_that_leave_come_back(self):
        with gradcoll.Mover(self.plan(2000)) as mover:
            for step in range(3):
                self.run_step(mover, step)
            stats = mover.stats
        self.assertEqual(3, stats.steps)
        self.assertGreater(stats.moves, 0)
        self.assertEqual(2 * BYTES * stats.moves, stats.moved_bytes)
        self.assertLessEqual(stats.peak_bytes, CLUSTER["device_memory"])

    def test_states_that_live_in_the_host_keep_what_is_in_them(self):
        # 8 layers of 12 bytes a parameter: with parameters and gradients more than the device holds.
        with gradcoll.Mover(self.plan(2000, parameters=15_000)) as mover:
            states = [n for n, tensor in enumerate(mover.tensors) if tensor.kind == "optimizer"]
            self.assertEqual(LAYERS, len(states))
            for n in states:
                mover.data(n)[:] = bytes([n + 1]) * mover.tensors[n].bytes
            for step in range(2):
                self.run_step(mover, step)
            for n in states:
                self.assertEqual(bytes([n + 1]) * mover.tensors[n].bytes, bytes(mover.data(n)))
            self.assertLess(mover.stats.device_bytes, sum(t.bytes for t in mover.tensors if t.stays))

    def test_operators_are_told_with_their_times(self):
        with gradcoll.Mover(self.plan(500)) as mover:
            self.run_step(mover, 0)
            operators = mover.operators
        self.assertEqual(3 * LAYERS, len(operators))
        self.assertEqual(("forward", "l 0", 0, 0), operators[0][:4])
        self.assertEqual({"forward", "backward", "update"}, {op.kind for op in operators})
        for before, after in zip(operators, operators[1:]):
            self.assertLessEqual(before.measured_end_us, after.measured_begin_us)

    def test_wrong_times_are_planned_again(self):
        with gradcoll.Mover(self.plan(40_000), drift=0.5) as mover:
            self.run_step(mover, 0, 0.002)
            self.assertEqual(0, mover.stats.replans)
            self.assertGreater(mover.stats.drift, 0.5)
            planned = mover.stats.planned_step_us
            self.run_step(mover, 1, 0.002)
            self.assertEqual(1, mover.stats.replans)
            self.assertLess(mover.stats.planned_step_us, planned)

    def test_bad_use_is_named(self):
        plan = self.plan(500)
        with self.assertRaisesRegex(gradcoll.Error, "none.json"):
            gradcoll.Mover(os.path.join(self.folder, "none.json"))
        with self.assertRaisesRegex(gradcoll.Error, "share is -1"):
            gradcoll.Mover(plan, drift=-1)
        mover = gradcoll.Mover(plan)
        with self.assertRaisesRegex(gradcoll.Error, "no step is under way"), mover.operator(0):
            pass
        with self.assertRaisesRegex(gradcoll.Error, "tensor is 999"):
            mover.data(999)
        mover.free()
        mover.free()
        with self.assertRaisesRegex(ValueError, "has been freed"):
            mover.stats


if __name__ == "__main__":
    main()
