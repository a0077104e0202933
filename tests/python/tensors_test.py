# tensors_test.py - torch tensors in allreduce, residuals and requests.
import unittest

from support import COMPRESSIBLE, WORLD, gradcoll, is_same_on_all_ranks, main, numpy, torch_or_skip

torch = torch_or_skip()


def of_rank(count, dtype):
    """Small numbers: their sums are exact in all types."""
    generator = torch.Generator().manual_seed(WORLD.rank)
    return torch.randint(0, 9, (count,), generator=generator).to(dtype)


def sum_of(tensor):
    return torch.from_numpy(WORLD.allreduce(tensor.detach().to(torch.float64).numpy()))


class Tensors(unittest.TestCase):
    def test_all_types_are_summed(self):
        floats = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
        for dtype in [*floats, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]:
            for count in [0, 5, 200_000]:
                tensor = of_rank(count, dtype)
                got = gradcoll.allreduce(tensor)
                self.assertEqual(got.dtype, dtype)
                self.assertTrue(torch.equal(got.to(torch.float64), sum_of(tensor)))

    def test_bfloat16_has_all_ops_of_floats(self):
        tensor = of_rank(1000, torch.bfloat16)
        stacked = torch.stack([torch.from_numpy(a) for a in WORLD.allgather(tensor.float().numpy())])
        self.assertTrue(torch.equal(gradcoll.allreduce(tensor, op="max").float(), stacked.amax(0)))
        self.assertTrue(torch.equal(gradcoll.allreduce(tensor, op="min").float(), stacked.amin(0)))
        ones = torch.full((1000,), 2.0, dtype=torch.bfloat16)
        self.assertEqual(gradcoll.allreduce(ones, op="prod")[0].item(), 2.0**WORLD.size)

    def test_shapes_strides_and_gradients(self):
        tensor = torch.arange(24.0).reshape(4, 6) * (WORLD.rank + 1)
        factor = sum(range(1, WORLD.size + 1)) / (WORLD.rank + 1)
        for view in [tensor.t(), tensor[:, ::2], tensor[0, 0], torch.nn.Parameter(tensor)]:
            got = gradcoll.allreduce(view)
            self.assertEqual(got.shape, view.shape)
            self.assertFalse(got.requires_grad)
            torch.testing.assert_close(got, view.detach() * factor)

    def test_in_place_and_out(self):
        tensor = of_rank(1000, torch.float32)
        expected = sum_of(tensor).float()
        out = torch.empty(1000)
        self.assertIs(gradcoll.allreduce(tensor, out=out), out)
        self.assertTrue(torch.equal(out, expected))
        self.assertIs(gradcoll.allreduce(tensor, out=tensor), tensor)
        self.assertTrue(torch.equal(tensor, expected))

    def test_what_is_refused(self):
        for tensor, word in [
            (torch.tensor([True]), "bool"),
            (torch.zeros(2, dtype=torch.complex64), "complex64"),
            (torch.zeros(2, device="meta"), "meta"),
            (torch.zeros(2, 2).to_sparse(), "sparse"),
        ]:
            with self.assertRaisesRegex(TypeError, f"array .*{word}"):
                gradcoll.allreduce(tensor)
        with self.assertRaisesRegex(TypeError, "two of the same kind"):
            gradcoll.allreduce(torch.zeros(2), out=numpy.zeros(2, "float32"))
        with self.assertRaisesRegex(ValueError, "out is not a contiguous tensor"):
            gradcoll.allreduce(torch.zeros(2, 3), out=torch.zeros(3, 2).t())

    def test_compressed_bfloat16_with_a_residual(self):
        tensor = of_rank(COMPRESSIBLE, torch.bfloat16) / 8
        with gradcoll.Residual(None, tensor) as residual:
            for _ in range(3):
                got = gradcoll.allreduce(tensor, codec="2:4", residual=residual)
                self.assertTrue(is_same_on_all_ranks(got.float().numpy()))

    def test_persistent_requests(self):
        tensor = torch.zeros(100_000)
        with gradcoll.Persistent(tensor, out=tensor) as request:
            tensor.fill_(2.0)
            request.start()
            self.assertIs(request.wait(), tensor)
        self.assertEqual(tensor.unique().tolist(), [2.0 * WORLD.size])


if __name__ == "__main__":
    main()
