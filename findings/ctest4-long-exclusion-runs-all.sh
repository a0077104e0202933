#!/usr/bin/env bash
# CTest 4.4.5 (CMake of PyPI): an exclusion with more groups than its expressions may have runs every test, and passes.
#
# Guess, written down first: an expression that cannot be compiled ends ctest with an error, as an unknown option does.
# Behaviour: it prints "Too many parentheses" among its other lines and goes on: with -E every test runs, with -R none,
# and the exit status is 0 both times. 30 groups within one are taken, 31 are not; CTest 3.25 took nine in all.
# Seen 2026-12-01, CMake 4.4.5 of PyPI, x86-64, twice: the lines at the end.
# Ends with 0 if that is still so.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" -q install cmake==4.4.5
printf 'add_test(%s true)\n' a b >"$folder/CTestTestfile.cmake"
cd "$folder"
for groups in 30 31; do
  names="$(printf '(a)|%.0s' $(seq $((groups - 1))))(a)"
  for option in -E -R; do
    status=0
    v/bin/ctest "$option" "^($names)$" >out 2>&1 || status=$?
    printf '%s with %d groups: %s, %d complaints, exit status %d\n' "$option" "$groups" \
      "$(grep -o 'tests passed.*\|No tests were found' out)" "$(grep -c 'Too many parentheses' out || true)" "$status"
  done
done | tee seen
diff - seen <<'T'
-E with 30 groups: tests passed out of 1, 0 complaints, exit status 0
-R with 30 groups: tests passed out of 1, 0 complaints, exit status 0
-E with 31 groups: tests passed out of 2, 1 complaints, exit status 0
-R with 31 groups: No tests were found, 1 complaints, exit status 0
T
