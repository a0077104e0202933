# launcher_test.py - worlds of one process where a launcher has started more: an error, and no sum of one rank alone.
import os
import unittest
from unittest import mock

from support import MPI, WORLD, gradcoll, main, numpy

is_alone = WORLD.size == 1
ARRAY = numpy.ones(4, "float32")
NONE = {name: None for name in ("WORLD_SIZE", "RANK", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")}


def saying(**variables):
    """The environment with these variables alone of those that launchers set."""
    kept = {name: value for name, value in os.environ.items() if name not in NONE}
    return mock.patch.dict(os.environ, {**kept, **variables}, clear=True)


def torch_module():
    try:
        import torch

        import gradcoll.torch
    except ImportError as missing:
        raise unittest.SkipTest(str(missing)) from None
    return torch, gradcoll.torch


def entries():
    yield lambda comm: gradcoll.allreduce(ARRAY, comm)
    yield lambda comm: gradcoll.Residual(comm, ARRAY).free()
    yield lambda comm: gradcoll.Persistent(ARRAY, comm).free()
    yield lambda comm: gradcoll.Engine(comm).close()
    yield lambda comm: gradcoll.attach(comm)


def entries_of_torch():
    torch, ours = torch_module()
    model = torch.nn.Linear(2, 2)
    yield lambda comm: ours.State(comm)
    yield lambda comm: ours.EngineState(model, comm)
    yield lambda comm: ours.EngineOptimizer(torch.optim.SGD(model.parameters(), lr=1), model, comm).close()


class Worlds(unittest.TestCase):
    def refuses(self, entry, said):
        for comm in [None, MPI.COMM_WORLD]:
            if is_alone:
                with self.assertRaisesRegex(RuntimeError, f"MPI.COMM_WORLD has 1 process, but {said}.*mpirun -n 4.*COMM_SELF"):
                    entry(comm)
            else:
                entry(comm)
        entry(MPI.COMM_SELF)

    def test_who_says_that_there_are_more(self):
        for variable in ["WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"]:
            with saying(**{variable: "4"}):
                self.refuses(lambda comm: gradcoll.allreduce(ARRAY, comm), f"{variable} is 4")

    def test_every_entry(self):
        with saying(WORLD_SIZE="4", RANK=str(WORLD.rank)):
            for entry in entries():
                self.refuses(entry, "WORLD_SIZE is 4")

    def test_every_entry_of_torch(self):
        with saying(WORLD_SIZE="4", RANK=str(WORLD.rank)):
            for entry in entries_of_torch():
                self.refuses(entry, "WORLD_SIZE is 4")

    def test_what_is_right_or_says_nothing(self):
        for variables in [
            {},
            {"WORLD_SIZE": str(WORLD.size), "RANK": str(WORLD.rank)},
            {"OMPI_COMM_WORLD_SIZE": str(WORLD.size), "SLURM_STEP_NUM_TASKS": "4"},  # mpirun's daemons
            {"SLURM_NTASKS": "4"},  # a batch script has it, too
            {"WORLD_SIZE": "many"},
        ]:
            with saying(**variables):
                gradcoll.allreduce(ARRAY)

    def test_a_process_group_of_more(self):
        torch, _ = torch_module()
        with saying(), mock.patch.object(torch.distributed, "is_initialized", lambda: True), mock.patch.object(
            torch.distributed, "get_world_size", lambda *_: 4
        ):
            self.refuses(lambda comm: gradcoll.allreduce(ARRAY, comm), "torch's process group has 4")


class ProcessGroups(unittest.TestCase):
    def test_variables_that_disagree_on_one_rank(self):
        _, ours = torch_module()
        last = WORLD.rank == WORLD.size - 1
        for variables, words in [
            ({"WORLD_SIZE": str(WORLD.size + 1), "RANK": str(WORLD.rank)}, "WORLD_SIZE is"),
            ({"WORLD_SIZE": str(WORLD.size), "RANK": str(WORLD.rank + 1)}, "RANK is"),
        ]:
            with saying(**(variables if last else {})), self.assertRaisesRegex(RuntimeError, words):
                ours.init_process_group()

    def test_variables_that_agree(self):
        torch, ours = torch_module()
        with saying(WORLD_SIZE=str(WORLD.size), RANK=str(WORLD.rank)):
            ours.init_process_group()
        self.assertEqual(torch.distributed.get_world_size(), WORLD.size)
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
