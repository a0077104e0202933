#!/usr/bin/env bash
# torch 2.15.0 (PyPI): Gloo's reduce-scatter sends as much as its allreduce, twice what is needed.
#
# Guess, written down first: an allreduce is a reduce-scatter and an allgather, and Gloo makes both by rings or halving,
# so reduce_scatter_tensor sends half the bytes of an all_reduce of its input, as all_gather_into_tensor does. FSDP2's
# steps (a reduce-scatter and two allgathers) then send 1.5 times what those of DistributedDataParallel do.
# Behaviour: reduce_scatter_tensor and reduce_scatter send exactly the bytes of an all_reduce of the whole input, on 2
# and on 4 ranks; all_gather_into_tensor sends half. So sharded training over Gloo sends twice what a replicated one
# does, not 1.5 times, and to reduce-scatter costs as long as to have the whole sum on each rank.
# Seen 2026-11-30, torch 2.15.0, Python 3.11, x86-64, bytes sent over the loopback device, twice:
#   2 ranks: reduce_scatter_tensor 1.0, reduce_scatter 1.0, all_gather_into_tensor 0.5 of all_reduce
#   4 ranks: reduce_scatter_tensor 1.0, reduce_scatter 1.0, all_gather_into_tensor 0.5 of all_reduce
# Ends with 0 if that is still so. Nothing else may send much over the loopback device meanwhile.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install torch==2.15.0 numpy
cat >"$folder/send.py" <<'P'
import torch
import torch.distributed as dist


def bytes_sent():
    with open("/proc/net/dev") as devices:
        return int(next(line for line in devices if line.strip().startswith("lo:")).split()[9])


def sent_by(call):
    call()  # connects
    dist.barrier()
    before = bytes_sent()
    dist.barrier()
    call()
    dist.barrier()
    return bytes_sent() - before


dist.init_process_group("gloo")
ranks = dist.get_world_size()
whole, part = torch.ones(ranks << 22), torch.empty(1 << 22)
calls = {
    "all_reduce": lambda: dist.all_reduce(whole),
    "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(part, whole),
    "reduce_scatter": lambda: dist.reduce_scatter(part, list(whole.chunk(ranks))),
    "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(whole, part),
}
sent = {name: sent_by(call) for name, call in calls.items()}
if dist.get_rank() == 0:
    shares = ", ".join(f"{name} {sent[name] / sent['all_reduce']:.1f}" for name in list(calls)[1:])
    print(f"{ranks} ranks: {shares} of all_reduce")
dist.barrier()
dist.destroy_process_group()
P
for ranks in 2 4; do
  GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 "$folder/v/bin/torchrun" --standalone --nproc-per-node "$ranks" "$folder/send.py" 2>/dev/null
done | tee "$folder/seen"
diff - "$folder/seen" <<'T'
2 ranks: reduce_scatter_tensor 1.0, reduce_scatter 1.0, all_gather_into_tensor 0.5 of all_reduce
4 ranks: reduce_scatter_tensor 1.0, reduce_scatter 1.0, all_gather_into_tensor 0.5 of all_reduce
T
