"""One rank of scripts/check torch-suite: runs the tests named in FOLDER/tests, and writes into FOLDER/rank.N what became of them.

usage: torch_suite_rank.py BACKEND FOLDER       torch_suite_rank.py --list

It ends after a test that has failed on some rank, because others may be in the middle of anything then.
"""

import datetime
import importlib.util
import json
import logging
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback
import types
import unittest

NAME = "torch.testing._internal.distributed.distributed_test"
BACKEND_LINE = 'BACKEND = os.environ["BACKEND"]'


class AsGloo(str):
    """A backend's name that is skipped in no test that is for Gloo, or for torch's own MPI backend on CPUs."""

    def __eq__(self, other):
        return other in ("gloo", "mpi") or str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash("gloo")  # for sets of names


def load(backend):
    """The module of the tests, whose decorators have seen the backend."""
    os.environ["BACKEND"] = backend
    os.environ.setdefault("WORLD_SIZE", "1")
    spec = importlib.util.find_spec(NAME)
    text = pathlib.Path(spec.origin).read_text(encoding="utf-8")
    if BACKEND_LINE not in text:
        sys.exit(f"this torch's {NAME} has no line {BACKEND_LINE!r}")
    module = types.ModuleType(NAME)
    module.__file__ = spec.origin
    sys.modules[NAME] = module
    name = repr(backend) if backend == "gloo" else f"__import__('__main__').AsGloo({backend!r})"
    exec(compile(text.replace(BACKEND_LINE, f"BACKEND = {name}"), spec.origin, "exec"), module.__dict__)
    return module


def suite_of(module):
    return type("Suite", (module.TestDistBackend, module.DistributedTest._DistTestBase), {})


def names_of(suite):
    """Without those that need a GPU."""
    return [name for name in unittest.TestLoader().getTestCaseNames(suite) if "cuda" not in name and "nccl" not in name]


class Rank:
    def __init__(self, backend, folder):
        from mpi4py import MPI

        self.comm = MPI.COMM_WORLD.Dup()
        self.backend, self.folder = backend, pathlib.Path(folder)
        os.environ["WORLD_SIZE"] = str(self.comm.size)
        os.environ["MASTER_ADDR"] = "127.0.0.1"
        if backend == "gradcoll":
            import gradcoll.torch  # noqa: F401
        self.module = load(backend)
        if backend != "gloo":
            self.module.DistTestCases.backend_feature["plugin"].add(backend)
        self.suite = suite_of(self.module)
        self.log = open(self.folder / f"rank.{self.comm.rank}", "w", encoding="utf-8")

    def say(self, *words):
        self.log.write(json.dumps(words) + "\n")
        self.log.flush()

    def run(self, name):
        """Whether it has passed, or was skipped, on all ranks."""
        self.say(name, "begins", "", 0.0)
        place = self.comm.bcast(self.make_place() if self.comm.rank == 0 else None)
        os.environ["TEMP_DIR"], os.environ["INIT_METHOD"] = place, f"file://{place}/init_dir/shared_init_file"
        self.module.INIT_METHOD = os.environ["INIT_METHOD"]
        begin = time.monotonic()
        verdict, text = self.verdict(name, f"file://{place}/store")
        self.say(name, verdict, text, time.monotonic() - begin)
        is_fine = all(self.comm.allgather(verdict != "failed"))
        if self.comm.rank == 0:
            shutil.rmtree(place, ignore_errors=True)
        return is_fine

    def make_place(self):
        place = tempfile.mkdtemp(prefix="torch-suite.")
        for folder in ("barrier", "test_dir", "init_dir"):
            os.mkdir(os.path.join(place, folder))
        return place

    def verdict(self, name, store):
        """What the class's own _run() does in a process for each test."""
        from torch import distributed as dist
        from torch.testing._internal import common_utils

        test = self.suite(name)
        test.rank, test.file_name = self.comm.rank, store[len("file://") :]
        self.module.Barrier.barrier_id = 0
        seconds = self.module.CUSTOM_PG_TIMEOUT.get(name, self.module.default_pg_timeout)
        try:
            dist.init_process_group(
                self.backend, store, datetime.timedelta(seconds=seconds), self.comm.size, self.comm.rank
            )
            test._barrier()
            common_utils.set_rng_seed()
            getattr(test, name)()
            test._barrier()
            dist.destroy_process_group()
        except (unittest.SkipTest, SystemExit) as skip:
            if dist.is_initialized():
                dist.destroy_process_group()
            return "skipped", str(skip)
        except BaseException:
            return "failed", traceback.format_exc()
        return "passed", ""


def main():
    logging.disable(logging.INFO)
    if sys.argv[1] == "--list":
        print("\n".join(names_of(suite_of(load("gloo")))))
        return
    rank = Rank(*sys.argv[1:])
    for name in (pathlib.Path(sys.argv[2]) / "tests").read_text().split("\n"):
        if not rank.run(name):
            sys.stdout.flush()
            os._exit(0)


if __name__ == "__main__":
    main()
