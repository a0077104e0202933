#!/usr/bin/env bash
# torch 2.15.0 (PyPI): a cast to float8_e4m3fn makes infinity 448, the largest number; ml_dtypes 0.5.4 makes it NaN.
#
# Guess, written down first: float8_e4m3fn has no infinity, so what is too large for it becomes NaN, as ml_dtypes (JAX,
# numpy) does; the same of all types of 8 bits, but float8_e5m2, which has an infinity.
# Behaviour: of the four types of 8 bits float8_e4m3fn alone saturates: infinity and 1e9 become 448. float8_e4m3fnuz and
# float8_e5m2fnuz, which have no infinity either, give NaN, and float8_e5m2 infinity. From 465 on torch and ml_dtypes
# differ. Who looks for an overflow in what was sent (a loss scaler behind an exchange in 8 bits) finds none.
# Seen 2026-12-01, torch 2.15.0, ml_dtypes 0.5.4, numpy 2.4.6, Python 3.11, x86-64 CPU, twice: the lines at the end.
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install torch==2.15.0 ml_dtypes==0.5.4 numpy==2.4.6
cat >"$folder/cast.py" <<'P'
import ml_dtypes
import numpy
import torch

values = numpy.array([464, 465, 1e9, numpy.inf, -numpy.inf], dtype="f4")
print(" " * 16, *(f"{value:g}" for value in values))
for name in "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz":
    for library, cast in (
        ("torch", torch.from_numpy(values).to(getattr(torch, name)).float().numpy()),
        ("ml_dtypes", values.astype(getattr(ml_dtypes, name)).astype("f4")),
    ):
        print(f"{name:16} {library:10}", *(f"{value:g}" for value in cast))
P
"$folder/v/bin/python" -W ignore "$folder/cast.py" | tee "$folder/seen"
diff - "$folder/seen" <<'T'
                 464 465 1e+09 inf -inf
float8_e4m3fn    torch      448 448 448 448 -448
float8_e4m3fn    ml_dtypes  448 nan nan nan nan
float8_e4m3fnuz  torch      nan nan nan nan nan
float8_e4m3fnuz  ml_dtypes  nan nan nan nan nan
float8_e5m2      torch      448 448 inf inf -inf
float8_e5m2      ml_dtypes  448 448 inf inf -inf
float8_e5m2fnuz  torch      448 448 nan nan nan
float8_e5m2fnuz  ml_dtypes  448 448 nan nan nan
T
