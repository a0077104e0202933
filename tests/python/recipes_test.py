# recipes_test.py - scripts of torch train over the backend as they do over Gloo: the same parameters after some steps.
import importlib.machinery
import sys
import tempfile
import types
import unittest
import warnings
from unittest import mock

from support import WORLD, backend_or_skip, main

torch = backend_or_skip()
import torch.distributed as dist  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import gradcoll.torch  # noqa: E402

RANK, SIZE = WORLD.rank, WORLD.size
IS_NEW = not torch.__version__.startswith("1.")

if dist.is_torchelastic_launched():  # scripts/check torchrun
    dist.init_process_group("gradcoll")
else:
    gradcoll.torch.init_process_group(backend="gradcoll")
gloo = dist.new_group(backend="gloo")
ours = dist.distributed_c10d._get_default_group()
new_only = unittest.skipUnless(IS_NEW, "this torch has no such recipe")


class Network(torch.nn.Module):
    def __init__(self, with_unused=False, sparse=False):
        super().__init__()
        self.embedding = torch.nn.Embedding(11, 8, sparse=sparse)
        self.first = torch.nn.Linear(8, 32)
        self.norm = torch.nn.BatchNorm1d(32)
        self.last = torch.nn.Linear(32, 4)
        self.sometimes = torch.nn.Linear(8, 4) if with_unused else None
        self.calls = 0

    def forward(self, words):
        x = self.embedding(words)
        y = self.last(torch.relu(self.norm(self.first(x))))
        self.calls += 1
        if self.sometimes is not None and (self.calls + RANK) % 2 == 0:
            y = y + self.sometimes(x)
        return y


def network(**arguments):
    torch.manual_seed(7)
    return Network(**arguments)


def batches(steps, seed=0):
    source = torch.Generator().manual_seed(100 * seed + RANK)
    return [torch.randint(0, 11, (16,), generator=source) for _ in range(steps)]


def train(model, optimizer, steps=5):
    for words in batches(steps):
        optimizer.zero_grad()
        model(words).square().mean().backward()
        optimizer.step()


class Recipes(unittest.TestCase):
    def same(self, recipe, exactly=SIZE <= 2, near=1e-5):
        """recipe(group) gives tensors; those of both backends are alike (to the bit where no order of sums differs)."""
        mine, theirs = recipe(ours), recipe(gloo)
        self.assertEqual(len(mine), len(theirs))
        for one, other in zip(mine, theirs):
            if exactly:
                self.assertTrue(torch.equal(one, other), (one, other))
            else:
                torch.testing.assert_close(one, other, rtol=near, atol=near / 10)

    def ddp(self, hook=None, model_arguments=None, steps=5, **arguments):
        def recipe(group):
            model = DistributedDataParallel(network(**(model_arguments or {})), process_group=group, **arguments)
            if hook is not None:
                hook(model, group)
            train(model, torch.optim.SGD(model.parameters(), lr=0.1), steps)
            return [value.detach().clone() for value in model.module.state_dict().values()]

        return recipe


class OfDistributedDataParallel(Recipes):
    def test_plain(self):
        self.same(self.ddp())
        self.same(self.ddp(bucket_cap_mb=0.001, gradient_as_bucket_view=True))

    def test_unused_parameters(self):
        self.same(self.ddp(find_unused_parameters=True, model_arguments={"with_unused": True}))

    def test_static_graph(self):
        self.same(self.ddp(static_graph=True))

    def test_sparse_embeddings(self):
        self.same(self.ddp(model_arguments={"sparse": True}), exactly=False)

    def test_join(self):
        def recipe(group):
            model = DistributedDataParallel(network(), process_group=group)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            with model.join():
                train(model, optimizer, steps=3 + RANK)
            return [parameter.detach().clone() for parameter in model.parameters()]

        self.same(recipe)

    def test_hooks(self):
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

        self.same(self.ddp(hook=lambda model, group: model.register_comm_hook(group, default_hooks.allreduce_hook)))
        half = lambda model, group: model.register_comm_hook(group, default_hooks.fp16_compress_hook)  # noqa: E731
        self.same(self.ddp(hook=half), near=1e-2)  # the order of sums shows

        def power(model, group):
            state = powerSGD_hook.PowerSGDState(group, matrix_approximation_rank=1, start_powerSGD_iter=2, min_compression_rate=1)
            model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)

        self.same(self.ddp(hook=power, steps=6), exactly=False, near=1e-3)

    @new_only
    def test_compiled(self):
        def recipe(group):
            model = DistributedDataParallel(network(), process_group=group)
            train(torch.compile(model, backend="aot_eager"), torch.optim.SGD(model.parameters(), lr=0.1))
            return [parameter.detach().clone() for parameter in model.parameters()]

        self.same(recipe)

    def test_a_failure_ends_the_backward_pass(self):
        model = DistributedDataParallel(network(), process_group=dist.new_group() if IS_NEW else ours)
        group = model.process_group
        model(batches(1)[0]).sum().backward()
        if not IS_NEW:
            return
        group._get_backend(torch.device("cpu")).abort()
        with self.assertRaisesRegex(RuntimeError, "was aborted"):
            model(batches(1)[0]).sum().backward()


class OfShards(Recipes):
    @new_only
    def test_fully_shard(self):
        from torch.distributed.device_mesh import DeviceMesh
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

        def recipe_of(policy=None, factor=None, sum_only=False):
            def recipe(group):
                mesh = DeviceMesh.from_group(group, "cpu")
                model = torch.nn.Sequential(torch.nn.Linear(7, 33), torch.nn.ReLU(), torch.nn.Linear(33, 5))
                torch.manual_seed(3)
                for parameter in model.parameters():
                    torch.nn.init.normal_(parameter)
                arguments = {} if policy is None else {"mp_policy": policy}
                for part in (model[0], model[2], model):
                    fully_shard(part, mesh=mesh, **arguments)
                if factor is not None:
                    model.set_gradient_divide_factor(factor)
                if sum_only:
                    for part in (model[0], model[2], model):
                        part.set_force_sum_reduction_for_comms(True)
                optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
                source = torch.Generator().manual_seed(RANK)
                for _ in range(4):
                    optimizer.zero_grad()
                    model(torch.randn(8, 7, generator=source)).float().square().mean().backward()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                return [parameter.full_tensor().detach().clone() for parameter in model.parameters()]

            return recipe

        half = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
        self.same(recipe_of())
        self.same(recipe_of(half), near=1e-2)
        self.same(recipe_of(MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)), near=1e-1)
        self.same(recipe_of(factor=float(SIZE)))
        self.same(recipe_of(sum_only=True))
        premultiplied, whole = recipe_of(factor=3.0)(ours), recipe_of(factor=3.0, sum_only=True)(ours)  # Gloo has no PREMUL_SUM
        for one, other in zip(premultiplied, whole):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)

    @new_only
    def test_hybrid(self):
        """Replicas of shards, 2 x 2: each sum has two parts, so that all bits are Gloo's."""
        if SIZE != 4:
            self.skipTest("it is for four ranks")
        from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
        from torch.distributed.fsdp import fully_shard

        names, ranks = ("replicate", "shard"), torch.arange(4).view(2, 2)

        def groups_of(backend):
            """This rank's column and row of the mesh. Every rank makes all groups."""
            columns, rows = ([dist.new_group(list(part), backend=backend) for part in parts.tolist()] for parts in (ranks.t(), ranks))
            return [columns[RANK % 2], rows[RANK // 2]]

        def recipe_of(mesh_of, sum_only=False):
            def recipe(group):
                torch.manual_seed(3)
                model = torch.nn.Sequential(torch.nn.Linear(7, 33), torch.nn.LayerNorm(33), torch.nn.ReLU(), torch.nn.Linear(33, 5))
                mesh = mesh_of(group)
                for part in (model[0], model[3], model):
                    fully_shard(part, mesh=mesh)
                    part.set_force_sum_reduction_for_comms(sum_only)
                optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
                source = torch.Generator().manual_seed(RANK)
                for _ in range(4):
                    optimizer.zero_grad()
                    model(torch.randn(8, 7, generator=source)).square().mean().backward()
                    optimizer.step()
                return [parameter.full_tensor().detach().clone() for parameter in model.parameters()]

            return recipe

        meshes = {
            group: DeviceMesh.from_group(groups_of(backend), "cpu", mesh=ranks, mesh_dim_names=names)
            for group, backend in ((ours, "gradcoll"), (gloo, "gloo"))
        }
        self.same(recipe_of(meshes.__getitem__), exactly=True)
        self.same(recipe_of(meshes.__getitem__, sum_only=True), exactly=True)
        of_torch = recipe_of(lambda _: init_device_mesh("cpu", (2, 2), mesh_dim_names=names))(ours)  # over groups that torch makes
        for one, other in zip(of_torch, recipe_of(meshes.__getitem__)(gloo)):
            self.assertTrue(torch.equal(one, other), (one, other))

    def test_zero_redundancy_optimizer(self):
        from torch.distributed.optim import ZeroRedundancyOptimizer

        def recipe_of(as_view):
            def recipe(group):
                model = DistributedDataParallel(network(), process_group=group)
                optimizer = ZeroRedundancyOptimizer(
                    model.parameters(), torch.optim.SGD, process_group=group, parameters_as_bucket_view=as_view, lr=0.1, momentum=0.9
                )
                train(model, optimizer)
                optimizer.consolidate_state_dict(to=0)
                kept = []
                if RANK == 0:
                    states = optimizer.state_dict()["state"]
                    kept = [states[key]["momentum_buffer"].clone() for key in sorted(states)]
                return [parameter.detach().clone() for parameter in model.parameters()] + kept

            return recipe

        for as_view in (False, True):
            self.same(recipe_of(as_view))

    @new_only
    def test_dtensor(self):
        from torch.distributed.device_mesh import DeviceMesh
        from torch.distributed.tensor import Replicate, Shard, distribute_tensor

        def recipe(group):
            mesh = DeviceMesh.from_group(group, "cpu")
            whole = torch.arange(32.0).view(8, 4)
            rows = distribute_tensor(whole, mesh, [Shard(0)])
            columns = rows.redistribute(mesh, [Shard(1)])
            product = rows @ distribute_tensor(whole.t().contiguous(), mesh, [Replicate()])
            facts = [rows.sum(), rows.mean(), rows.max(), (rows > 3).any(), (rows > -1).all()]
            return [columns.full_tensor(), product.full_tensor(), *[fact.full_tensor() for fact in facts]]

        self.same(recipe)

    @new_only
    def test_checkpoints(self):
        import torch.distributed.checkpoint as dcp
        from torch.distributed.device_mesh import DeviceMesh
        from torch.distributed.fsdp import fully_shard

        folder = WORLD.bcast(tempfile.mkdtemp() if RANK == 0 else None)
        mesh = DeviceMesh.from_group(ours, "cpu")
        torch.manual_seed(5)
        model = fully_shard(torch.nn.Linear(9, 6), mesh=mesh)
        expected = [parameter.full_tensor().detach().clone() for parameter in model.parameters()]
        state = {"model": model.state_dict(), "step": 3}
        dcp.save(state, checkpoint_id=f"{folder}/plain")
        saving = dcp.async_save(state, checkpoint_id=f"{folder}/async")
        saving.result()
        WORLD.Barrier()
        for name in ("plain", "async"):
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.zero_()
            loaded = {"model": model.state_dict(), "step": 0}
            dcp.load(loaded, checkpoint_id=f"{folder}/{name}")
            model.load_state_dict(loaded["model"])
            self.assertEqual(loaded["step"], 3)
            for parameter, before in zip(model.parameters(), expected):
                self.assertTrue(torch.equal(parameter.full_tensor(), before))


class OfAccelerate(unittest.TestCase):
    @new_only
    def test_who_trains_alone_is_told_once(self):
        """It stands for Accelerate without cpu=True, which makes each process the only one."""
        from gradcoll import _torch_alone

        for processes, is_told in ((1, SIZE > 1), (SIZE, False)):
            accelerate = types.ModuleType("accelerate")
            accelerate.__spec__ = importlib.machinery.ModuleSpec("accelerate", None)
            state = types.ModuleType("accelerate.state")
            state.PartialState = types.SimpleNamespace(_shared_state={"num_processes": processes})
            optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
            with mock.patch.dict(sys.modules, {"accelerate": accelerate, "accelerate.state": state}):
                _torch_alone._has_looked = False
                _torch_alone.watch()
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    optimizer.step()
                    optimizer.step()
            told = [str(each.message) for each in said if "Accelerate takes each for the only one" in str(each.message)]
            self.assertEqual(len(told), int(is_told), told)


if __name__ == "__main__":
    main()
    dist.destroy_process_group()
