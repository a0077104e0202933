# bootstrap_test.py - torchrun without mpirun: one world where the MPI can be told, else an error, and never worlds of one.
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from support import MPI, gradcoll, main

from gradcoll import _bootstrap, _pmi

TORCHRUN = {"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "host", "MASTER_PORT": "29500"}
PROGRAM = """
import subprocess, sys, torch, torch.distributed as dist, gradcoll.torch
dist.init_process_group("gradcoll")
tensor = torch.full((1000,), dist.get_rank() + 1.0)
dist.all_reduce(tensor)
print(f"SUM {int(tensor[0])} {gradcoll.torch.comm_of().size}\\n", end="", flush=True)
subprocess.run([sys.executable, "-c", "import gradcoll; from mpi4py import MPI; assert MPI.COMM_WORLD.size == 1"], check=True)
dist.destroy_process_group()
"""


def torch_or_skip_test():
    try:
        import torch
    except ImportError as missing:
        raise unittest.SkipTest(str(missing)) from None
    return torch


def backend_or_skip_test():
    torch = torch_or_skip_test()
    from gradcoll import _torch_world

    if not _torch_world._is_for_python:
        raise unittest.SkipTest(f"torch {torch.__version__} takes no backend that is made in Python")
    return torch


class Client:
    """What MPI is to the server."""

    def __init__(self, port, hello):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.lines = self.connection.makefile("r")
        self.say(hello)

    def say(self, line):
        self.connection.sendall(line.encode() + b"\n")

    def heard(self):
        return self.lines.readline().strip()

    def ask(self, line):
        self.say(line)
        return self.heard()


class WithServer(unittest.TestCase):
    def setUp(self):
        command = [sys.executable, "-I", "-S", _pmi.__file__, "2", "127.0.0.1"]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.server.stdin.write(b"secret\n")
        self.server.stdin.flush()
        self.port = int(self.server.stdout.readline())
        self.addCleanup(self.end)

    def end(self):
        self.server.stdin.close()
        self.assertEqual(self.server.wait(20), 0, self.server.stderr.read())
        self.server.stdout.close()
        self.server.stderr.close()


class Server(WithServer):
    def pair(self):
        clients = [Client(self.port, f"secret {rank}") for rank in range(2)]
        self.assertEqual([client.heard() for client in clients], ["ok", "ok"])
        return clients

    def leave(self, clients):
        for client in clients:
            self.assertEqual(client.ask("cmd=finalize"), "cmd=finalize_ack rc=0")
            client.connection.close()
            client.lines.close()

    def test_what_mpi_asks(self):
        one, two = self.pair()
        self.assertEqual(one.ask("cmd=init pmi_version=1 pmi_subversion=1"), "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")
        self.assertEqual(one.ask("cmd=get_maxes"), "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024")
        self.assertEqual(one.ask("cmd=get_my_kvsname"), two.ask("cmd=get_my_kvsname"))
        self.assertEqual(one.ask("cmd=get_universe_size"), "cmd=universe_size rc=0 size=2")
        self.assertRegex(one.ask("cmd=spawn"), "rc=-1")
        self.leave([one, two])

    def test_values_and_barriers(self):
        one, two = self.pair()
        self.assertRegex(one.ask("cmd=put kvsname=a key=card value=a b=c"), "rc=0")
        one.say("cmd=barrier_in")
        self.assertEqual(two.ask("cmd=barrier_in"), "cmd=barrier_out rc=0")
        self.assertEqual(one.heard(), "cmd=barrier_out rc=0")
        self.assertEqual(two.ask("cmd=get kvsname=a key=card"), "cmd=get_result rc=0 msg=success value=a b=c")
        self.assertRegex(two.ask("cmd=get kvsname=a key=none"), "rc=-1")
        self.leave([one, two])

    def test_strangers_are_refused(self):
        for hello in ("other 0", "secret 2", "secret x", "GET / HTTP/1.1"):
            stranger = Client(self.port, hello)
            self.assertEqual(stranger.heard(), "")
            stranger.connection.close()
        clients = self.pair()
        again = Client(self.port, "secret 1")
        self.assertEqual(again.heard(), "")
        again.connection.close()
        self.leave(clients)

    def lose_one(self, wait_first):
        one, two = self.pair()
        if wait_first:
            one.say("cmd=barrier_in")
        two.lines.close()
        two.connection.close()
        if not wait_first:
            time.sleep(0.2)  # the server sees the end first
            one.say("cmd=barrier_in")
        self.assertEqual(one.heard(), "")
        one.lines.close()
        one.connection.close()

    def test_a_process_that_dies_takes_those_that_wait(self):
        self.lose_one(wait_first=True)

    def test_a_process_that_has_died_takes_those_that_would_wait(self):
        self.lose_one(wait_first=False)


class WhenNeeded(unittest.TestCase):
    def test_under_torchrun_alone(self):
        self.assertTrue(_bootstrap.is_needed(TORCHRUN))
        self.assertFalse(_bootstrap.is_needed({}))
        self.assertFalse(_bootstrap.is_needed({**TORCHRUN, "WORLD_SIZE": "1"}))
        for variable in ("PMI_RANK", "PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", _bootstrap._STARTED):
            self.assertFalse(_bootstrap.is_needed({**TORCHRUN, variable: "0"}))


class Store:
    """torch's store, in which the place of a server that has gone is found until another one has told its own."""

    def __init__(self, *places):
        self.places = list(places)

    def get(self, _):
        return (self.places.pop(0) if len(self.places) > 1 else self.places[0]).encode()


class Connection(WithServer):
    def setUp(self):
        super().setUp()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.gone = f"127.0.0.1 {taken.getsockname()[1]} other"

    def connect(self, store):
        torch_or_skip_test()
        with mock.patch("torch.distributed.rendezvous", lambda _: iter([(store, 1, 2)])):
            return _bootstrap._connect()

    def test_a_server_that_has_gone_is_waited_out(self):
        here = f"127.0.0.1 {self.port} secret"
        refused = f"127.0.0.1 {self.port} other"
        connections = [self.connect(Store(self.gone, refused, here)), _bootstrap._connected(0, here, 20)]
        for connection in connections:
            self.assertTrue(connection.getblocking())
            self.assertIsNone(connection.gettimeout())
            connection.sendall(b"cmd=finalize\n")
            self.assertEqual(connection.recv(100), b"cmd=finalize_ack rc=0\n")
            connection.close()

    @mock.patch.object(_bootstrap, "_CONNECT_SECONDS", 0.5)
    def test_an_error_says_what_to_do(self):
        with self.assertRaisesRegex(RuntimeError, "rank 1 on .* cannot reach .* at 127.0.0.1:.* .*--master-addr"):
            self.connect(Store(self.gone))


class Torchrun(unittest.TestCase):
    def run_program(self, with_torchrun):
        """Output, errors and exit codes of two processes, by torchrun or with the variables that it sets."""
        of_launchers = ("OMPI_", "PMIX_", "PMI_", "ORTE_", "MPI", "HYD", "PRTE_", "SLURM_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(of_launchers)}
        with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
            program = Path(folder) / "program.py"
            program.write_text(PROGRAM)
            port = taken.getsockname()[1]
            taken.close()
            command = [sys.executable, str(program)]
            jobs = [(command, {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}) for rank in range(2)]
            if with_torchrun:
                jobs = [([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", str(program)], {})]
            started = [
                subprocess.Popen(job, env={**environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for job, more in jobs
            ]
            outputs = [process.communicate(timeout=300) for process in started]
            return "".join(out for out, _ in outputs), "".join(err for _, err in outputs), [one.returncode for one in started]

    def check(self, with_torchrun):
        out, errors, codes = self.run_program(with_torchrun)
        if MPI.Get_library_version().startswith(_bootstrap._SPEAK_PMI):
            self.assertEqual(set(codes), {0}, errors)
            self.assertEqual(out.count("SUM 3 2\n"), 2, out + errors)
        else:
            self.assertNotIn(0, codes)
            self.assertRegex(errors, r"rank 1 of 2 \(RANK, WORLD_SIZE\), MPI as rank 0 of 1 .*mpirun -n 2 python")
            self.assertNotIn("SUM", out)

    def test_one_world_or_an_error(self):
        backend_or_skip_test()
        self.check(with_torchrun=False)

    def test_by_torchrun(self):
        if backend_or_skip_test().__version__.startswith("1."):
            self.skipTest("torchrun of torch 1.13 does not start under Python 3.11")
        self.check(with_torchrun=True)

if __name__ == "__main__":
    assert gradcoll
    main()
