# backend_test.py - the backend of torch.distributed does what Gloo does, for every call and dtype that Gloo has.
import datetime
import threading
import time
import unittest
from unittest import mock

from support import MPI, WORLD, backend_or_skip, is_same_on_all_ranks, main

torch = backend_or_skip()
import torch.distributed as dist  # noqa: E402
from torch._C import _distributed_c10d as c10d  # noqa: E402

import gradcoll.torch  # noqa: E402
from gradcoll import _torch_works, _torch_world  # noqa: E402

RANK, SIZE = WORLD.rank, WORLD.size
IS_NEW = hasattr(c10d, "Backend")  # torch 1.13 has process groups alone, without several faces
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.uint8, torch.int32, torch.int64]
ALL = [*FLOATS, *INTEGERS, torch.int16, torch.bool]
COUNTS = [1, 7, 1000, 70_000]

gradcoll.torch.init_process_group(backend="gradcoll")
gloo = dist.new_group(backend="gloo")
ours = dist.new_group() if IS_NEW else None  # another communicator than the default group's


def values(count, dtype, seed=0):
    """Another vector on each rank, of small whole numbers: sums are exact in every type and order."""
    source = torch.Generator().manual_seed(1000 * seed + RANK)
    whole = torch.randint(0 if dtype in (torch.uint8, torch.bool) else -3, 4, (count,), generator=source)
    return whole.to(dtype)


def new_only(test):
    return unittest.skipUnless(IS_NEW, "this torch has no such call for backends of Python")(test)


class AgainstGloo(unittest.TestCase):
    def same(self, function, *tensors):
        """function(group, *copies) of both backends; all copies are then alike."""
        results = []
        for group in (ours, gloo):
            copies = [tensor.clone() for tensor in tensors]
            function(group, *copies)
            results.append(copies)
        for mine, theirs in zip(*results):
            self.assertTrue(torch.equal(mine, theirs), (mine.dtype, mine.shape, mine, theirs))

    def cases(self, dtypes, counts=COUNTS):
        for dtype in dtypes:
            for count in counts:
                yield values(count, dtype), count

    def gloo_has(self, dtype):
        return dtype not in (torch.bfloat16, torch.int16, torch.bool) or (IS_NEW and dtype != torch.int16)

    def test_all_reduce(self):
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.MIN, dist.ReduceOp.MAX, dist.ReduceOp.PRODUCT):
            for tensor, _ in self.cases([dtype for dtype in ALL if self.gloo_has(dtype)]):
                self.same(lambda group, x: dist.all_reduce(x, op, group=group), tensor)

    def test_all_reduce_of_bits(self):
        for op in (dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR):
            for tensor, _ in self.cases(INTEGERS):
                self.same(lambda group, x: dist.all_reduce(x, op, group=group), tensor)

    @new_only
    def test_averages(self):
        for tensor, _ in self.cases([torch.float32, torch.float64]):
            self.same(lambda group, x: dist.all_reduce(x, dist.ReduceOp.AVG, group=group), tensor)

    def test_broadcast(self):
        for root in range(SIZE):
            for tensor, _ in self.cases([dtype for dtype in ALL if self.gloo_has(dtype)]):
                self.same(lambda group, x: dist.broadcast(x, root, group=group), tensor)

    def test_reduce(self):
        for root in range(SIZE):
            for tensor, _ in self.cases([torch.float32, torch.int64]):
                def at_root(group, x):
                    dist.reduce(x, root, group=group)
                    if RANK != root:
                        x.zero_()  # undefined there

                self.same(at_root, tensor)

    def test_gathers(self):
        for tensor, count in self.cases([dtype for dtype in ALL if self.gloo_has(dtype)]):
            outputs = [torch.zeros_like(tensor) for _ in range(SIZE)]
            self.same(lambda group, x, *parts: dist.all_gather(list(parts), x, group=group), tensor, *outputs)
            root = SIZE - 1
            self.same(
                lambda group, x, *parts: dist.gather(x, list(parts) if RANK == root else None, root, group=group),
                tensor,
                *outputs,
            )

    @new_only
    def test_gathers_of_one_tensor(self):
        for tensor, count in self.cases([dtype for dtype in ALL if self.gloo_has(dtype)]):
            output = torch.zeros(SIZE * count, dtype=tensor.dtype)
            self.same(lambda group, x, all_: dist.all_gather_into_tensor(all_, x, group=group), tensor, output)

    @new_only
    def test_reduce_scatter(self):
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX):
            for dtype in (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bfloat16):
                for count in COUNTS:
                    tensor = values(SIZE * count, dtype)
                    output = torch.zeros(count, dtype=dtype)
                    self.same(lambda group, x, part: dist.reduce_scatter_tensor(part, x, op, group=group), tensor, output)
                    self.same(
                        lambda group, x, part: dist.reduce_scatter(part, list(x.chunk(SIZE)), op, group=group), tensor, output
                    )

    def test_scatter(self):
        for tensor, count in self.cases([torch.float32, torch.int64, torch.uint8]):
            parts = [tensor + rank if tensor.dtype != torch.bool else tensor for rank in range(SIZE)]
            self.same(
                lambda group, out, *all_: dist.scatter(out, list(all_) if RANK == 0 else None, 0, group=group), tensor, *parts
            )

    def test_all_to_all(self):
        for dtype in (torch.float32, torch.int64, torch.uint8):
            tensor = values(SIZE * 10, dtype).view(SIZE * 5, 2)
            self.same(lambda group, out, x: dist.all_to_all_single(out, x, group=group), torch.zeros_like(tensor), tensor)
            sent = [(RANK + peer) % 3 for peer in range(SIZE)]  # what peer gets of this rank, so symmetric
            source = values(2 * sum(sent), dtype).view(-1, 2)
            self.same(
                lambda group, out, x: dist.all_to_all_single(out, x, sent, sent, group=group), torch.zeros_like(source), source
            )

    @new_only
    def test_forms(self):
        """0-dim, empty, transposed, sliced, and complex tensors."""
        for tensor in [
            torch.tensor(float(RANK + 1)),
            torch.zeros(0),
            values(12, torch.float32).view(3, 4),
            torch.complex(values(9, torch.float32), values(9, torch.float32, seed=1)),
            torch.complex(values(9, torch.float64), values(9, torch.float64, seed=1)),
        ]:
            self.same(lambda group, x: dist.all_reduce(x, group=group), tensor)
            self.same(lambda group, x: dist.broadcast(x, SIZE - 1, group=group), tensor)

    def test_strides(self):
        for view in (lambda x: x.t(), lambda x: x[:, 1:3], lambda x: x[::2]):
            for dtype in (torch.float32, torch.bfloat16):
                whole = values(24, dtype).view(6, 4)
                expected = torch.stack([torch.from_numpy(part) for part in WORLD.allgather(view(whole).float().numpy())]).sum(0)
                untouched = whole.clone()
                dist.all_reduce(view(whole))
                self.assertTrue(torch.equal(view(whole).float(), expected))
                view(untouched).copy_(view(whole))
                self.assertTrue(torch.equal(whole, untouched))

    def test_sparse(self):
        dense = torch.zeros(5, 3)
        dense[RANK % 5] = RANK + 1.0
        dense[4, 1] = 1.0
        tensor = dense.to_sparse(1)
        dist.all_reduce(tensor, group=ours)
        total = dense.clone()
        dist.all_reduce(total, group=gloo)
        self.assertTrue(torch.equal(tensor.to_dense(), total))

    def test_objects(self):
        objects = [None] * SIZE
        dist.all_gather_object(objects, {"rank": RANK})
        self.assertEqual(objects, [{"rank": rank} for rank in range(SIZE)])
        known = [("words", 3) if RANK == 0 else None]
        dist.broadcast_object_list(known, 0)
        self.assertEqual(known, [("words", 3)])

    @new_only
    def test_coalesced(self):
        tensors = [values(count, dtype) for count, dtype in ((5, torch.float32), (9, torch.float32), (4, torch.int64))]

        def coalesced(group, *copies):
            with dist.distributed_c10d._coalescing_manager(group, torch.device("cpu") if group is ours else None):
                for copy in copies:
                    dist.all_reduce(copy, group=group)

        for same_type in (tensors[:2], tensors[2:]):
            self.same(coalesced, *same_type)
        outputs = [torch.zeros(SIZE * tensor.numel(), dtype=tensor.dtype) for tensor in tensors]
        ours._get_backend(torch.device("cpu")).all_gather_single_coalesced(outputs, tensors).wait()
        for output, tensor in zip(outputs, tensors):
            expected = torch.zeros_like(output)
            dist.all_gather_into_tensor(expected, tensor, group=gloo)
            self.assertTrue(torch.equal(output, expected))


class NotOfGloo(unittest.TestCase):
    def test_premultiplied_sums(self):
        if not hasattr(c10d, "_make_nccl_premul_sum") or not IS_NEW:
            self.skipTest("this torch does not show the factor")
        for factor in (0.5, torch.tensor(0.5)):
            op = c10d._make_nccl_premul_sum(factor)
            tensor = torch.full((100,), RANK + 1.0)
            dist.all_reduce(tensor, op)
            self.assertTrue(torch.equal(tensor, torch.full((100,), SIZE * (SIZE + 1) / 4)))
            source, part = torch.full((SIZE * 3,), RANK + 1.0), torch.zeros(3)
            dist.reduce_scatter_tensor(part, source, op)
            self.assertTrue(torch.equal(part, torch.full((3,), SIZE * (SIZE + 1) / 4)))
            self.assertTrue(torch.equal(source, torch.full((SIZE * 3,), RANK + 1.0)))

    def test_averages_of_integers_are_refused(self):
        with self.assertRaisesRegex(ValueError, "AVG of torch.int64; allowed are floating-point types"):
            dist.all_reduce(torch.ones(3, dtype=torch.int64), dist.ReduceOp.AVG)
        dist.barrier()

    def test_bfloat16_is_the_same_everywhere_in_the_vector(self):
        tensor = torch.full((10_000,), 1.0 if RANK == 0 else 2.0**-9, dtype=torch.bfloat16)
        dist.all_reduce(tensor)
        self.assertEqual(len(tensor.unique()), 1)

    @new_only
    def test_parts_of_unequal_length(self):
        source = torch.full((RANK + 1,), float(RANK))
        outputs = [torch.empty(rank + 1) for rank in range(SIZE)]
        dist.all_gather(outputs, source)
        for rank, output in enumerate(outputs):
            self.assertTrue(torch.equal(output, torch.full((rank + 1,), float(rank))))
        part = torch.empty(RANK + 1)
        dist.reduce_scatter(part, [torch.full((rank + 1,), 1.0 + rank) for rank in range(SIZE)])
        self.assertTrue(torch.equal(part, torch.full((RANK + 1,), SIZE * (1.0 + RANK))))

    @new_only
    def test_a_gather_in_place(self):
        whole = torch.full((SIZE * 4,), -1.0)
        mine = whole[4 * RANK : 4 * RANK + 4].fill_(RANK)
        dist.all_gather_into_tensor(whole, mine)
        self.assertTrue(torch.equal(whole, torch.arange(SIZE).repeat_interleave(4).float()))

    @new_only
    def test_float8_moves_and_is_not_added(self):
        tensor = torch.full((8,), RANK + 1.0).to(torch.float8_e4m3fn)
        dist.broadcast(tensor, 0)
        self.assertTrue(torch.equal(tensor.float(), torch.ones(8)))
        with self.assertRaisesRegex(TypeError, "no reduction of torch.float8_e4m3fn"):
            ours._get_backend(torch.device("cpu")).allreduce([tensor])

    def test_sums_are_the_same_bits_on_all_ranks(self):
        tensor = torch.randn(100_001, generator=torch.Generator().manual_seed(RANK))
        dist.all_reduce(tensor)
        self.assertTrue(is_same_on_all_ranks(tensor.numpy()))


class Messages(unittest.TestCase):
    def test_in_a_ring(self):
        tensor, received = torch.full((1000,), float(RANK)), torch.empty(1000)
        works = dist.batch_isend_irecv(
            [dist.P2POp(dist.isend, tensor, (RANK + 1) % SIZE), dist.P2POp(dist.irecv, received, (RANK - 1) % SIZE)]
        )
        for work in works:
            work.wait()
        self.assertTrue(torch.equal(received, torch.full((1000,), float((RANK - 1) % SIZE))))

    def test_into_a_view(self):
        if SIZE == 1:
            self.skipTest("one rank")
        whole = torch.zeros(4, 4)
        if RANK == 0:
            dist.send(torch.arange(4.0), 1, tag=7)
        elif RANK == 1:
            dist.recv(whole[:, 2], 0, tag=7)
            self.assertTrue(torch.equal(whole[:, 2], torch.arange(4.0)))
            self.assertEqual(float(whole.sum()), 6.0)


class Works(unittest.TestCase):
    def test_many_at_once_in_order(self):
        tensors = [torch.full((1 + 100 * number,), float(number)) for number in range(20)]
        works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
        last = torch.ones(3)
        dist.all_reduce(last)  # behind the others
        for number, (tensor, work) in enumerate(zip(tensors, works)):
            self.assertTrue(work.wait())
            self.assertTrue(torch.equal(tensor, torch.full_like(tensor, float(number * SIZE))))
        self.assertTrue(torch.equal(last, torch.full((3,), float(SIZE))))

    def test_nobody_waits_for_it(self):
        dist.all_reduce(torch.ones(1000), async_op=True)
        dist.barrier()

    def test_a_future_holds_a_list(self):
        for async_op in (True, False):
            tensor = torch.ones(10)
            opts = c10d.AllreduceOptions()
            if hasattr(opts, "asyncOp"):
                opts.asyncOp = async_op
            group = dist.distributed_c10d._get_default_group()
            work = group.allreduce([tensor], opts)
            doubled = work.get_future().then(lambda done: done.value()[0] * 2)
            self.assertTrue(torch.equal(doubled.wait(), torch.full((10,), 2.0 * SIZE)))
            work.wait()
            self.assertEqual(work.get_future().wait()[0].data_ptr(), tensor.data_ptr())

    def test_a_failure_is_raised_by_wait_and_by_the_future(self):
        group = dist.distributed_c10d._get_default_group()
        output, source = torch.empty(3), torch.empty(1)
        backend = group._get_backend(torch.device("cpu")) if IS_NEW else group
        if SIZE == 3:
            source = torch.empty(2)
        work = backend._allgather_base(output, source.expand(5).contiguous(), c10d.AllgatherOptions())
        future = work.get_future()
        with self.assertRaisesRegex(Exception, "all_gather of 5 elements into 3"):
            work.wait()
        with self.assertRaisesRegex(Exception, "all_gather of 5 elements into 3"):
            future.wait()

    def test_calls_of_two_threads(self):
        first, second = (dist.new_group() for _ in range(2))
        results = {}

        def many(name, group):
            results[name] = torch.ones(1000)
            for _ in range(30):
                dist.all_reduce(results[name], dist.ReduceOp.MAX, group=group)
                dist.all_gather_object([None] * SIZE, name, group=group)

        threads = [threading.Thread(target=many, args=(name, group)) for name, group in (("a", first), ("b", second))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(results), ["a", "b"])
        for group in (first, second):
            dist.destroy_process_group(group)


class Groups(unittest.TestCase):
    def test_of_some_ranks(self):
        even = dist.new_group(list(range(0, SIZE, 2)))
        odd = dist.new_group(list(range(1, SIZE, 2))) if SIZE > 1 else None
        group, members = (even, range(0, SIZE, 2)) if RANK % 2 == 0 else (odd, range(1, SIZE, 2))
        tensor = torch.full((10,), float(RANK))
        dist.all_reduce(tensor, group=group)
        self.assertTrue(torch.equal(tensor, torch.full((10,), float(sum(members)))))

    @new_only
    def test_split(self):
        if not hasattr(dist, "split_group"):
            self.skipTest("this torch has no split_group")
        half = max(1, SIZE // 2)
        parts = [list(range(half)), list(range(half, SIZE))] if SIZE > 1 else [[0]]
        group = dist.split_group(split_ranks=parts)
        tensor = torch.full((10,), float(RANK))
        dist.all_reduce(tensor, group=group)
        mine = parts[0] if RANK < half else parts[1]
        self.assertTrue(torch.equal(tensor, torch.full((10,), float(sum(mine)))))

    def test_communicator(self):
        comm = gradcoll.torch.comm_of()
        self.assertEqual(comm.size, SIZE)
        self.assertEqual(comm, gradcoll.torch.comm_of())
        with self.assertRaisesRegex(ValueError, "not of the backend"):
            gradcoll.torch.comm_of(gloo)

    @new_only
    def test_a_mesh(self):
        if SIZE % 2 != 0:
            self.skipTest("an odd number of ranks")
        from torch.distributed import _functional_collectives as functional

        mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (SIZE // 2, 2), mesh_dim_names=("a", "b"))
        tensor = torch.ones(3)
        dist.all_reduce(tensor, group=mesh.get_group("b"))
        self.assertTrue(torch.equal(tensor, torch.full((3,), 2.0)))
        gather = getattr(functional, "all_gather_single", None) or functional.all_gather_tensor
        whole = gather(torch.full((2,), float(RANK)), 0, mesh["b"])
        first = RANK - RANK % 2
        self.assertTrue(torch.equal(whole.cpu() + 0, torch.tensor([first, first, first + 1.0, first + 1.0])))


class Timeouts(unittest.TestCase):
    LIMIT = 1.0

    def tearDown(self):
        WORLD.Barrier()  # so that groups are destroyed when who was late has come

    def group(self):
        return dist.new_group(timeout=datetime.timedelta(seconds=self.LIMIT))

    def test_who_is_late_is_named(self):
        if SIZE == 1:
            self.skipTest("one rank is never late")
        group = self.group()
        last = SIZE - 1
        tensor = torch.ones(10)
        if RANK == last:
            time.sleep(3 * self.LIMIT)
            dist.all_reduce(tensor, group=group)
        else:
            work = dist.all_reduce(tensor, group=group, async_op=True)
            with self.assertRaisesRegex(RuntimeError, rf"all_reduce \(call 1 of group .*\) has reached its timeout of 1 s: rank {last} of the "):
                work.wait()
            with self.assertRaisesRegex(RuntimeError, "has reached its timeout of 1 s"):
                dist.all_reduce(tensor, group=group)

    @new_only
    def test_a_monitored_barrier(self):
        dist.monitored_barrier(timeout=datetime.timedelta(seconds=60))
        if SIZE == 1:
            return
        for names_all in (False, True):
            group = dist.new_group()
            if RANK == SIZE - 1:
                time.sleep(3 * self.LIMIT)
                continue
            late = rf"Rank{'s' * names_all} {SIZE - 1} failed to pass monitoredBarrier in 1000 ms"
            other = rf"Rank {RANK} successfully reached monitoredBarrier, but received errors .* from rank 0"
            with self.assertRaisesRegex(RuntimeError, other if RANK else late):
                dist.monitored_barrier(group, datetime.timedelta(seconds=self.LIMIT), wait_all_ranks=names_all)

    def test_a_barrier_is_left(self):
        if SIZE == 1:
            self.skipTest("one rank is never late")
        group = self.group()
        if RANK == 0:
            return
        with self.assertRaisesRegex(RuntimeError, r"barrier \(call 1 of .*\) has reached its timeout of 1 s: rank 0 of the group has not"):
            dist.barrier(group)
        with self.assertRaisesRegex(RuntimeError, "has reached its timeout"):
            dist.all_reduce(torch.ones(1), group=group)

    @unittest.skipUnless(hasattr(c10d.AllreduceOptions, "asyncOp"), "this torch has no calls on the caller's thread")
    def test_a_call_on_the_callers_thread_ends_the_job(self):
        if SIZE == 1:
            self.skipTest("one rank is never late")
        group = self.group()
        said = []
        with mock.patch.object(_torch_works, "_end_the_job", said.append):
            if RANK == 0:
                time.sleep(3 * self.LIMIT)
            dist.all_reduce(torch.ones(10), group=group)
        self.assertEqual(len(said), 0 if RANK == 0 else 1)
        if RANK != 0:
            self.assertRegex(said[0], "has reached its timeout of 1 s: rank 0 of the group has not called it")


class Codecs(unittest.TestCase):
    def test_of_one_group_alone(self):
        lossy, exact = dist.new_group(), dist.new_group()
        gradcoll.torch.options(lossy, codec="int8", settings={"gc_compress_if": "always"})
        source = torch.randn(200_000, generator=torch.Generator().manual_seed(RANK))
        sums = []
        for group in (lossy, exact):
            tensor = source.clone()
            dist.all_reduce(tensor, group=group)
            self.assertTrue(is_same_on_all_ranks(tensor.numpy()))
            sums.append(tensor)
        compressed = [gradcoll.stats(_torch_world.backend_of(group).comm).calls_compressed for group in (lossy, exact)]
        self.assertEqual(compressed, [1 if SIZE > 1 else 0, 0])
        error = (sums[0] - sums[1]).abs().max()
        self.assertLess(error, 0.1 * SIZE)
        self.assertEqual(bool(error > 0), SIZE > 1)
        if IS_NEW:  # FSDP's call
            part = torch.empty(200_000)
            dist.reduce_scatter_tensor(part, source.repeat(SIZE), dist.ReduceOp.AVG, group=lossy)
            torch.testing.assert_close(part, sums[1] / SIZE, rtol=0, atol=0.1)
            self.assertEqual(gradcoll.stats(_torch_world.backend_of(lossy).comm).calls_compressed, 2 if SIZE > 1 else 0)
        whole = torch.full((70_000,), RANK + 0.1)
        dist.broadcast(whole, 0, group=lossy)
        self.assertTrue(torch.equal(whole, torch.full((70_000,), 0.1)))
        with self.assertRaisesRegex(gradcoll.Error, "no_such"):
            gradcoll.torch.options(lossy, settings={"gc_codec": "no_such"})

    def test_hooks_with_feedback(self):
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(300, 300))
        state = gradcoll.torch.State(codec="int8", comm=gradcoll.torch.comm_of(), options={"gc_compress_if": "always"})
        model.register_comm_hook(state, gradcoll.torch.allreduce_hook)
        for _ in range(3):
            model(torch.ones(4, 300) * (RANK + 1)).square().mean().backward()
        self.assertTrue(is_same_on_all_ranks(model.module.weight.grad.numpy()))
        self.assertEqual(gradcoll.stats(state.attach()).calls_compressed > 0, SIZE > 1)
        state.close()


class Worlds(unittest.TestCase):
    def test_groups_of_another_size_are_refused_on_all_ranks(self):
        from gradcoll._launcher import check_ranks_of_group

        wrong = SIZE + 1 if RANK == SIZE - 1 else SIZE
        with self.assertRaisesRegex(RuntimeError, f"rank {SIZE - 1} of {SIZE + 1} .*MPI as rank {SIZE - 1} of {SIZE}"):
            check_ranks_of_group(MPI.COMM_WORLD, RANK, wrong)

    def test_a_torch_that_takes_no_backend_of_python_is_an_error(self):
        with mock.patch.object(_torch_world, "_is_for_python", False), self.assertRaisesRegex(RuntimeError, "takes no backend"):
            _torch_world._create(None)


if __name__ == "__main__":
    main()
    dist.destroy_process_group()
