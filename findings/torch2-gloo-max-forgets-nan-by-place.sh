#!/usr/bin/env bash
# torch 2.15.0 (PyPI): whether Gloo's MAX or MIN keeps a NaN depends on the element's place in the vector.
#
# Guess, written down first: one rank has NaN in all elements, the others a number each. The result is the same in all
# elements: NaN, as torch.maximum gives it, or the largest number, if a comparison drops it. It does not depend on which
# rank has the NaN, or it does for all elements alike.
# Behaviour: the vector has a share for each rank, and each share is combined in another order. Two ranks: NaN in the first
# half and a number in the second if rank 0 has the NaN, the other way round if rank 1 has it; one element keeps the NaN
# of rank 0 and drops that of rank 1. Four ranks: the NaN is left in a quarter of the vector, and what is a number is not
# always the largest: of 1, NaN, 3 and 4 the first quarter has 1. All ranks have the same, so nothing looks wrong; who
# looks for an overflow or a bad loss by MAX misses it in most elements.
# Seen 2026-11-30, torch 2.15.0, Python 3.11, x86-64, twice: the lines at the end.
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install torch==2.15.0 numpy
cat >"$folder/max.py" <<'P'
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()


def runs_of(vector):
    """Says what stands in the vector, as "VALUE xCOUNT" for each run of equal ones."""
    texts = [f"{value:g}" for value in vector.tolist()]
    ends = [i + 1 for i in range(len(texts)) if i + 1 == len(texts) or texts[i + 1] != texts[i]]
    return ", ".join(f"{texts[end - 1]} x{end - begin}" for begin, end in zip([0, *ends], ends))


for length in (1, 4096):
    for who in range(ranks):
        vector = torch.full((length,), float("nan") if rank == who else float(rank + 1))
        dist.all_reduce(vector, op=dist.ReduceOp.MAX)
        seen = [None] * ranks
        dist.all_gather_object(seen, runs_of(vector))
        if rank == 0:
            alike = "" if len(set(seen)) == 1 else ", ranks differ"
            print(f"{ranks} ranks, NaN on rank {who}: {seen[0]}{alike}")
dist.barrier()
dist.destroy_process_group()
P
for ranks in 2 4; do
  GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 "$folder/v/bin/torchrun" --standalone --nproc-per-node "$ranks" "$folder/max.py" 2>/dev/null
done | tee "$folder/seen"
diff - "$folder/seen" <<'T'
2 ranks, NaN on rank 0: nan x1
2 ranks, NaN on rank 1: 1 x1
2 ranks, NaN on rank 0: nan x2048, 2 x2048
2 ranks, NaN on rank 1: 1 x2048, nan x2048
4 ranks, NaN on rank 0: nan x1
4 ranks, NaN on rank 1: 1 x1
4 ranks, NaN on rank 2: 2 x1
4 ranks, NaN on rank 3: 3 x1
4 ranks, NaN on rank 0: nan x1024, 4 x3072
4 ranks, NaN on rank 1: 1 x1024, nan x1024, 4 x2048
4 ranks, NaN on rank 2: 2 x2048, nan x1024, 4 x1024
4 ranks, NaN on rank 3: 3 x3072, nan x1024
T
