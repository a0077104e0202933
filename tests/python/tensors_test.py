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


class Opaque(torch.Tensor):
    """A subclass with operations of its own, and without memory."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=False)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), named=None):
        if function in (torch.ops.aten.detach.default,):
            return cls(arguments[0].inner)
        raise NotImplementedError(function)

    def __repr__(self):
        return type(self).__name__


class Sharded(Opaque):
    def to_local(self):
        return self.inner


class Quantized(Opaque):
    def dequantize(self):
        return self.inner


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
        with self.assertRaisesRegex(TypeError, r"layout torch.sparse_coo; .*to_dense.*sparse=False"):
            gradcoll.allreduce(torch.zeros(2, 2).to_sparse())
        with self.assertRaisesRegex(TypeError, "two of the same kind"):
            gradcoll.allreduce(torch.zeros(2), out=numpy.zeros(2, "float32"))
        with self.assertRaisesRegex(ValueError, "out is not a contiguous tensor"):
            gradcoll.allreduce(torch.zeros(2, 3), out=torch.zeros(3, 2).t())

    def test_classes_whose_values_are_not_what_their_memory_holds(self):
        """As DTensor, and quantized tensors of torchao."""
        engine = gradcoll.Engine()
        for kind, way in [(Sharded, "its .to_local"), (Quantized, "its .dequantize"), (Opaque, "convert it")]:
            tensor = kind(torch.ones(8))
            for call in [
                gradcoll.allreduce,
                lambda each: gradcoll.allreduce(torch.ones(8), out=each),
                lambda each: gradcoll.Residual(None, each),
                gradcoll.Persistent,
                lambda each: engine.submit("name", each),
                lambda each: engine.residual("name", each),
            ]:
                with self.assertRaisesRegex(TypeError, rf"(array|out) is a .*\.{kind.__name__}, .*{way}"):
                    call(tensor)
        engine.close()

    def test_models_whose_gradients_are_not_whole(self):
        import gradcoll.torch

        model = torch.nn.Linear(2, 2)
        model.weight = torch.nn.Parameter(Sharded(torch.ones(2, 2)))
        with_buffer = torch.nn.Linear(2, 2)
        with_buffer.register_buffer("shape", torch.ones(2, 2).to_sparse())
        sgd = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=1)
        for make, words in [
            (lambda: gradcoll.torch.EngineState(model), "parameter 'weight' is a .*Sharded.*to_local"),
            (lambda: gradcoll.torch.EngineOptimizer(sgd, model), "parameter 'weight' is a .*Sharded.*to_local"),
            (
                lambda: gradcoll.torch.EngineOptimizer(torch.optim.SGD(with_buffer.parameters(), lr=1), with_buffer),
                "buffer 'shape' has layout",
            ),
        ]:
            with self.assertRaisesRegex(TypeError, words):
                make()

    def test_sparse_gradients_of_an_embedding(self):
        import gradcoll.torch

        model = torch.nn.Embedding(8, 2, sparse=True)
        optimizer = gradcoll.torch.EngineOptimizer(torch.optim.SGD(model.parameters(), lr=1), model)
        with self.assertRaisesRegex(TypeError, "gradient of 'weight' has layout torch.sparse_coo.*sparse=False"):
            model(torch.tensor([1, 2])).sum().backward()
        optimizer.close()

    def test_a_tensor_that_was_emptied(self):
        emptied = torch.ones(8)
        storage = emptied.untyped_storage() if hasattr(emptied, "untyped_storage") else emptied.storage()
        storage.resize_(0)
        with self.assertRaisesRegex(TypeError, "array is a tensor without memory, as FSDP"):
            gradcoll.allreduce(emptied)

    def test_models_that_fsdp_has_sharded(self):
        import gradcoll.torch

        try:
            from torch.distributed.fsdp import FullyShardedDataParallel
        except (ImportError, ValueError) as missing:  # the latter: torch 1.13 with Python 3.11
            self.skipTest(f"torch without FullyShardedDataParallel: {missing}")
        part = FullyShardedDataParallel.__new__(FullyShardedDataParallel)
        torch.nn.Module.__init__(part)
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), part)
        for make in [
            lambda: gradcoll.torch.EngineState(model),
            lambda: gradcoll.torch.EngineOptimizer(torch.optim.SGD(model.parameters(), lr=1), model),
        ]:
            with self.assertRaisesRegex(TypeError, "sharded by FullyShardedDataParallel"):
                make()

    def test_zeros_that_have_no_memory(self):
        zeros = torch._efficientzerotensor(8)
        self.assertTrue(torch.equal(gradcoll.allreduce(zeros), torch.zeros(8)))
        with self.assertRaisesRegex(ValueError, "out is not a contiguous"):
            gradcoll.allreduce(torch.ones(8), out=zeros)

    def test_what_autograd_has_saved_is_not_changed_behind_its_back(self):
        with gradcoll.Engine() as engine:
            for change in [
                lambda each: gradcoll.allreduce(each, out=each),
                lambda each: engine.submit("name", each, out=each).wait(),
                self.by_request,
            ]:
                x = torch.ones(8, requires_grad=True)
                saved = x * 3
                loss = saved.square().sum()  # whose gradient needs `saved`
                with torch.no_grad():
                    change(saved)
                with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                    loss.backward()

    def by_request(self, tensor):
        with gradcoll.Persistent(tensor, out=tensor) as request:
            request.start()
            while not request.test():
                pass

    def test_orders_in_memory_that_differ_between_ranks(self):
        numbers = torch.arange(24.0).reshape(1, 2, 3, 4)
        mine = numbers.contiguous(memory_format=torch.channels_last) if WORLD.rank % 2 else numbers
        self.assertTrue(torch.equal(gradcoll.allreduce(mine), numbers * WORLD.size))
        array = numpy.arange(24.0).reshape(4, 6)
        mine = numpy.asfortranarray(array) if WORLD.rank % 2 else array
        numpy.testing.assert_array_equal(gradcoll.allreduce(mine), array * WORLD.size)

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
