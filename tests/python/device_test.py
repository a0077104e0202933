# device_test.py - tensors on a device stand in the order of torch's streams. The device is the emulated one, whose streams
# dawdle and whose memory the CPU cannot touch; torch's CUDA tensors and streams have stand-ins, as they need a GPU.
import contextlib
import ctypes
import datetime
import os
import threading
import time
import types
import unittest
import warnings
from unittest import mock

from support import MPI, WORLD, backend_or_skip, main

torch = backend_or_skip()
import torch.distributed as dist  # noqa: E402
from torch._C import _distributed_c10d as c10d  # noqa: E402

import gradcoll.torch  # noqa: E402
from gradcoll import _buffers, _streams, _torch_works, _torch_world  # noqa: E402

RANK, SIZE = WORLD.rank, WORLD.size
COUNTS = (1000, 300_000)

emulated = ctypes.CDLL(os.environ["GRADCOLL_TEST_DEVICE"])
for name, result, arguments in [
    ("allocated", ctypes.c_void_p, "z"), ("release", None, "p"), ("made_stream", ctypes.c_void_p, ""), ("default_stream", ctypes.c_void_p, ""),
    ("native_of", ctypes.c_void_p, "p"), ("copy", None, "pppz"), ("made_mark", ctypes.c_void_p, ""), ("record", None, "pp"),
    ("wait_for", None, "pp"), ("has_passed", ctypes.c_int, "p"), ("end_stream", None, "p"), ("end_mark", None, "p"),
]:
    getattr(emulated, name).restype = result
    getattr(emulated, name).argtypes = [{"p": ctypes.c_void_p, "z": ctypes.c_size_t}[kind] for kind in arguments]


class Event:
    def __init__(self):
        self.mark = emulated.made_mark()

    def record(self, stream):
        emulated.record(stream.stream, self.mark)

    def __del__(self):
        emulated.end_mark(self.mark)


class Stream:
    def __init__(self, device=None, stream=None):
        self.stream = stream or emulated.made_stream()

    @property
    def cuda_stream(self):
        return emulated.native_of(self.stream)

    def wait_event(self, event):
        emulated.wait_for(self.stream, event.mark)

    def wait_stream(self, other):
        event = Event()
        event.record(other)
        self.wait_event(event)

    def __del__(self):
        emulated.end_stream(self.stream)

    def finish(self):
        """Only tests wait so."""
        event = Event()
        event.record(self)
        while not emulated.has_passed(event.mark):
            time.sleep(0.0001)


class Cuda:
    """Stands for torch.cuda. Each thread has a current stream; none can be waited for by the CPU, but for what tensors do."""

    Event, Stream = Event, Stream

    def __init__(self):
        self.default = Stream(stream=emulated.default_stream())
        self.of_thread = threading.local()

    def current_stream(self, device=None):
        return getattr(self.of_thread, "stream", self.default)

    def default_stream(self, device=None):
        return self.default

    @contextlib.contextmanager
    def stream(self, stream):
        before, self.of_thread.stream = self.current_stream(), stream
        try:
            yield
        finally:
            self.of_thread.stream = before


cuda = Cuda()
filling = Stream()


class OnDevice:
    """Stands for a contiguous CUDA tensor. What it is told to do goes to the current stream, and is done later."""

    device, layout, is_nested = torch.device("cuda", 0), torch.strided, False
    __torch_dispatch__ = torch.Tensor.__torch_dispatch__

    def __init__(self, values):
        self.shape, self.dtype, self.bytes = values.shape, values.dtype, values.numel() * values.element_size()
        self.address = emulated.allocated(self.bytes + 1)
        self.threads, self.streams, self.kept = set(), [], []
        with cuda.stream(filling):
            self.copy_(values)
            filling.finish()

    def __del__(self):
        emulated.release(self.address)

    def numel(self):
        return self.shape.numel()

    def element_size(self):
        return self.dtype.itemsize if hasattr(self.dtype, "itemsize") else torch.empty(0, dtype=self.dtype).element_size()

    def dim(self):
        return len(self.shape)

    def data_ptr(self):
        self.threads.add(threading.get_ident())
        return self.address

    def is_contiguous(self):
        return True

    def is_no(self):
        return False

    is_neg = is_conj = is_complex = _is_zerotensor = is_no

    def is_inference(self):
        return True

    def storage_offset(self):
        return 0

    def __getitem__(self, part):
        assert part == slice(0, self.numel())
        return self

    def detach(self):
        return self

    def record_stream(self, stream):
        self.streams.append(stream)

    def copy_(self, source):
        if isinstance(source, OnDevice):
            self.kept.append(source)
            emulated.copy(cuda.current_stream().stream, self.address, source.address, self.bytes)
        else:
            self.kept.append(source.contiguous().clone())
            emulated.copy(cuda.current_stream().stream, self.address, self.kept[-1].data_ptr(), self.bytes)
        return self

    def cpu(self):
        """Behind the current stream; the CPU waits, as it does in torch."""
        values = torch.empty(self.shape, dtype=self.dtype)
        emulated.copy(cuda.current_stream().stream, values.data_ptr(), self.address, self.bytes)
        cuda.current_stream().finish()
        return values

    def mul_(self, factor):
        return self.copy_late(self.cpu() * factor)

    def div_(self, by):
        return self.copy_late(self.cpu() / by)

    def copy_late(self, source):
        """Long after the current stream was told to, so that who does not wait for it is caught."""
        room = OnDevice(torch.zeros(1))
        for _ in range(60):
            room.copy_(torch.ones(1))
        self.kept.append(room)
        return self.copy_(source)

    @classmethod
    def __torch_function__(cls, function, types_, arguments=(), named=None):
        assert function.__name__ == "copy_", function
        target, source = arguments
        return target.copy_(source.cpu())


def of_rank(count, rank=RANK):
    return (torch.arange(count) % 7 + rank).float()


def of_all(count):
    return [of_rank(count, rank) for rank in range(SIZE)]


def coming(values):
    """A tensor that gets these values when the current stream comes to it, which is not now."""
    return OnDevice(torch.full_like(values, 99.0)).copy_late(OnDevice(values))


@contextlib.contextmanager
def streams():
    """The stream of who calls, as the current one."""
    with mock.patch.object(torch, "cuda", cuda), cuda.stream(Stream()):
        yield


def later():
    """Another stream, which begins behind the current one."""
    stream = Stream()
    stream.wait_stream(cuda.current_stream())
    return cuda.stream(stream)


gradcoll.torch.init_process_group(backend="gradcoll")
backend = _torch_world.backend_of(None)


def options_for(op, is_async):
    opts = c10d.AllreduceOptions()
    opts.reduceOp = op
    if hasattr(opts, "asyncOp"):
        opts.asyncOp = is_async
    return opts


class Sums(unittest.TestCase):
    def test_begin_behind_the_callers_stream_and_before_what_comes_after_wait(self):
        for count in COUNTS:
            for op, factor in ((dist.ReduceOp.SUM, 1), (dist.ReduceOp.AVG, 1 / SIZE)):
                for is_async in (True, False):
                    with streams():
                        tensor = coming(of_rank(count))
                        work = backend.allreduce([tensor], options_for(op, is_async))
                        work.wait()
                        with later():
                            torch.testing.assert_close(tensor.cpu(), sum(of_all(count)) * factor)
                        self.assertEqual(len(tensor.streams), 1)  # its memory stays while the call's stream uses it

    def test_are_not_waited_for_by_who_calls(self):
        with streams():
            tensors = [coming(of_rank(1000) + number) for number in range(5)]
            works = [backend.allreduce([tensor], options_for(dist.ReduceOp.SUM, True)) for tensor in tensors]
            for work in works:
                work.wait()
            for number, tensor in enumerate(tensors):
                self.assertNotIn(threading.get_ident(), tensor.threads)
                with later():
                    self.assertTrue(torch.equal(tensor.cpu(), sum(of_all(1000)) + number * SIZE))

    def test_go_on_in_device_memory(self):
        with streams(), warnings.catch_warnings():
            warnings.simplefilter("error")  # one says where the library does not take it
            before = gradcoll.stats(backend.comm).calls_tree
            tensor = OnDevice(of_rank(300_000))
            with mock.patch.object(OnDevice, "__torch_function__", None):  # no copy by torch
                backend.allreduce([tensor], options_for(dist.ReduceOp.SUM, True)).wait()
            self.assertEqual(gradcoll.stats(backend.comm).calls_tree, before + (SIZE > 1))

    def test_go_through_the_host_where_one_rank_has_no_device(self):
        refusing = types.SimpleNamespace(GC_Comm_set_stream=lambda *_: MPI.ERR_OTHER)
        group = WORLD.Dup()
        gradcoll.attach(group)
        mine = _torch_world.Backend(group, None, "some", datetime.timedelta(seconds=60))
        with streams(), mock.patch.object(_streams, "lib", refusing) if RANK == 0 else contextlib.nullcontext():
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                for _ in range(2):
                    tensor = coming(of_rank(300_000))
                    mine.allreduce([tensor], options_for(dist.ReduceOp.SUM, True)).wait()
                    with later():
                        self.assertTrue(torch.equal(tensor.cpu(), sum(of_all(300_000))))
            complaints = [str(each.message) for each in said if "copies in the host's memory" in str(each.message)]
            self.assertEqual(len(complaints), RANK == 0)
        mine.shutdown()


class OthersThroughTheHost(unittest.TestCase):
    def expect(self, tensor, values):
        with later():
            self.assertTrue(torch.equal(tensor.cpu(), values))

    def test_broadcast_reduce_and_gathers(self):
        for count in COUNTS:
            every = of_all(count)
            with streams():
                tensor = coming(of_rank(count))
                opts = c10d.BroadcastOptions()
                opts.rootRank = SIZE - 1
                backend.broadcast([tensor], opts).wait()
                self.expect(tensor, every[-1])
                tensor, opts = coming(of_rank(count)), c10d.ReduceOptions()
                backend.reduce([tensor], opts).wait()
                if RANK == 0:
                    self.expect(tensor, sum(every))
                whole = OnDevice(torch.zeros(SIZE * count))
                backend.all_gather_single(whole, coming(of_rank(count))).wait()
                self.expect(whole, torch.cat(every))
                parts = [OnDevice(torch.zeros(count)) for _ in range(SIZE)]
                backend.allgather([parts], [coming(of_rank(count))]).wait()
                opts = c10d.GatherOptions()
                backend.gather([parts] if RANK == 0 else [], [coming(of_rank(count) + 1)], opts).wait()
                for part, values in zip(parts, every):
                    self.expect(part, values + (RANK == 0))

    def test_scatters(self):
        for count in COUNTS:
            with streams():
                part = OnDevice(torch.zeros(count))
                backend.reduce_scatter_single(part, coming(of_rank(SIZE * count))).wait()
                self.expect(part, sum(of_all(SIZE * count))[RANK * count : (RANK + 1) * count])
                opts = c10d.ScatterOptions()
                sources = [[coming(values) for values in of_all(count)]] if RANK == 0 else []
                backend.scatter([part], sources, opts).wait()
                self.expect(part, of_rank(count))


class Calls(unittest.TestCase):
    """Those that take tensors beside the backend."""

    def setUp(self):
        known = _buffers.is_tensor
        patch = mock.patch.object(_buffers, "is_tensor", lambda value: isinstance(value, OnDevice) or known(value))
        patch.start()
        self.addCleanup(patch.stop)

    def test_begin_behind_the_current_stream(self):
        for count in COUNTS:
            with streams():
                tensor = coming(of_rank(count))
                gradcoll.allreduce(tensor, out=tensor)
                with cuda.stream(Stream()):  # it is there for all
                    self.assertTrue(torch.equal(tensor.cpu(), sum(of_all(count))))
                tensor = coming(of_rank(count))
                with gradcoll.Persistent(tensor, out=tensor) as request:
                    request.start()
                    request.wait()
                with cuda.stream(Stream()):
                    self.assertTrue(torch.equal(tensor.cpu(), sum(of_all(count))))
                tensor = coming(of_rank(count))
                with gradcoll.Engine() as engine:
                    engine.submit("one", tensor, out=tensor).wait()
                with cuda.stream(Stream()):
                    self.assertTrue(torch.equal(tensor.cpu(), sum(of_all(count))))


    def test_hooks_of_distributed_data_parallel(self):
        parameter = torch.nn.Parameter(torch.zeros(300_000))
        model = torch.nn.Module()
        model.register_parameter("weight", parameter)
        # A future of tensors on a device takes streams of CUDA's own pool.
        with mock.patch.object(_torch_works, "future_for", lambda _: torch.futures.Future()):
            for state, hook in (
                (gradcoll.torch.State(codec="exact"), gradcoll.torch.allreduce_hook),
                (gradcoll.torch.EngineState(model, codec="exact"), gradcoll.torch.engine_hook),
            ):
                for _ in range(3):
                    with streams():
                        flat = coming(of_rank(300_000))
                        bucket = types.SimpleNamespace(
                            index=lambda: 0, buffer=lambda: flat, gradients=lambda: [flat], parameters=lambda: [parameter], is_last=lambda: True
                        )
                        self.assertIs(hook(state, bucket).wait(), flat)
                        with cuda.stream(Stream()):
                            torch.testing.assert_close(flat.cpu(), sum(of_all(300_000)) / SIZE)
                state.close()


class Names(unittest.TestCase):
    def test_of_both_devices(self):
        if not hasattr(dist.Backend, "default_device_backend_map"):
            self.skipTest("this torch has one backend for all devices")
        for config in ("gradcoll", "cpu:gradcoll,cuda:gloo", "cpu:gloo,cuda:gradcoll", "cpu:gradcoll,cuda:gradcoll"):
            group = dist.new_group(backend=config)
            comm = gradcoll.torch.comm_of(group)
            self.assertEqual(comm.size, SIZE)
            for device, of_device in (("cpu", config.split(",")[0]), ("cuda", config.split(",")[-1])):
                found = group._get_backend(torch.device(device))
                self.assertEqual(isinstance(found, _torch_world.Backend), "gradcoll" in of_device, (config, device))
            dist.destroy_process_group(group)


if __name__ == "__main__":
    main()
    dist.destroy_process_group()
