#!/usr/bin/env bash
# torch 2.15.0 (PyPI): a negative number cast to float8_e8m0fnu is that number without its sign; ml_dtypes 0.5.4 has NaN.
#
# Guess, written down first: float8_e8m0fnu, the type of scales in microscaling formats, has powers of two alone, and
# neither a sign nor 0. So both libraries make 0 the smallest one, 2^-127, and a negative number NaN.
# Behaviour: each does one of them. torch makes 0 2^-127 and drops the sign: -1 becomes 1, -0.3 becomes 0.25. ml_dtypes
# makes both NaN, so a block of zeros, whose scale is 0, comes back as NaN where it is decoded, and with torch's scale as 0.
# Halves go up in both: 0.75 becomes 1, 3 becomes 4.
# Seen 2026-12-01, torch 2.15.0, ml_dtypes 0.5.4, numpy 2.4.6, Python 3.11, x86-64 CPU, twice: the lines at the end.
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install torch==2.15.0 ml_dtypes==0.5.4 numpy==2.4.6
cat >"$folder/scale.py" <<'P'
import ml_dtypes
import numpy
import torch

values = numpy.array([0, -1, -0.3, 0.75, 3], dtype="f4")
print("values   ", *(f"{value:g}" for value in values))
print("torch    ", *(f"{value:g}" for value in torch.from_numpy(values).to(torch.float8_e8m0fnu).float().numpy()))
print("ml_dtypes", *(f"{value:g}" for value in values.astype(ml_dtypes.float8_e8m0fnu).astype("f4")))
P
"$folder/v/bin/python" -W ignore "$folder/scale.py" | tee "$folder/seen"
diff - "$folder/seen" <<'T'
values    0 -1 -0.3 0.75 3
torch     5.87747e-39 1 0.25 1 4
ml_dtypes nan nan nan 1 4
T
