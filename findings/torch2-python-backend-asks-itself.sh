#!/usr/bin/env bash
# torch 2.15.0 (PyPI): a torch.distributed backend that is a Python class, and leaves out what it does not support,
# cannot be asked whether it does: the question ends in RecursionError.
#
# Guess, written down first: c10d's Backend says that it supports neither coalescing nor splitting, and a Python class
# derived from it inherits these answers. So the properties are False, batch_isend_irecv starts one operation after the
# other (that is what it does for backends that do not coalesce), and split_group is refused with its own message.
# Behaviour: the properties `supports_coalescing`, `supports_splitting` and `options` of such a class raise
# RecursionError. What stands behind each is a virtual function whose Python side looks for an attribute of the
# object's own, finds the inherited property, and reads it, which calls the virtual function again. So
# batch_isend_irecv fails though isend and irecv are there. A class that defines the properties itself is fine.
# Seen 2026-11-29, torch 2.15.0, Python 3.11, x86-64, twice:
#   supports_coalescing: RecursionError; supports_splitting: RecursionError; options: RecursionError
#   isend: sent; batch_isend_irecv: RecursionError; with a property of the class: sent
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install torch==2.15.0 numpy
cat >"$folder/ask.py" <<'P'
import os

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend, Work


class Done(Work):
    def is_completed(self):
        return True

    def wait(self, timeout=None):
        return True


class Plain(Backend):
    """It can send, and says nothing of what it cannot do."""

    def getBackendName(self):
        return "plain"

    def send(self, tensors, to, tag):
        return Done()


class Told(Plain):
    supports_coalescing = False


def outcome(question):
    try:
        return str(question())
    except RecursionError:
        return "RecursionError"


def batch():
    dist.batch_isend_irecv([dist.P2POp(dist.isend, torch.ones(2), 0)])
    return "sent"


def one():
    dist.isend(torch.ones(2), 0)
    return "sent"


for name in ("supports_coalescing", "supports_splitting", "options"):
    print(f"{name}: {outcome(lambda: getattr(Plain(0, 2), name))}")
dist.Backend.register_backend("plain", lambda store, rank, size, timeout: Plain(rank, size), devices=["cpu"])
dist.Backend.register_backend("told", lambda store, rank, size, timeout: Told(rank, size), devices=["cpu"])
os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0")
for kind in ("plain", "told"):
    store = dist.HashStore()
    dist.init_process_group(kind, store=store, rank=1, world_size=2)
    print(f"{kind}: isend {outcome(one)}, batch_isend_irecv {outcome(batch)}")
    dist.destroy_process_group()
P
cat >"$folder/expected" <<'T'
supports_coalescing: RecursionError
supports_splitting: RecursionError
options: RecursionError
plain: isend sent, batch_isend_irecv RecursionError
told: isend sent, batch_isend_irecv sent
T
"$folder/v/bin/python" -W ignore "$folder/ask.py" | tee "$folder/seen"
diff "$folder/expected" "$folder/seen"
