#!/usr/bin/env bash
# A sweep writes every row once, is resumed where it stopped, and can be plotted.
# usage: sweep_test.sh SCRIPTS_FOLDER PROGRAM
set -euo pipefail
scripts="$1"
program="$2"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
csv="$folder/rows.csv"

fail() { echo "sweep_test: $*" >&2; exit 1; }
lines_of() { wc -l <"$1"; }
sweep() {
  "$scripts/measure" sweep --program "$program" --csv "$csv" --ranks 2,3 --sizes 64K:128K --tree discover --tree '((0 1) 2)' \
    --codecs exact,2:4 "$@"
}

# 2 and 3 ranks on the discovered tree, 3 on the written one, two codecs each.
[ "$(sweep --dry-run | wc -l)" -eq 6 ] || fail "a dry run must print six commands"
[ ! -e "$csv" ] || fail "a dry run must measure nothing"

sweep -- -i 2 --repeats 1 -c
[ "$(lines_of "$csv")" -eq 13 ] || fail "expected a header and 12 rows: $(cat "$csv")"
[ "$(sweep --dry-run | wc -l)" -eq 0 ] || fail "a finished sweep must have nothing left to do"

# Interrupted within the sixth row: the torn row and the ones after it are measured again; of its run one size is there.
{ head -n 6 "$csv"; printf '3,disc'; } >"$folder/torn.csv"
mv "$folder/torn.csv" "$csv"
sweep -- -i 2 --repeats 1 -c
[ "$(lines_of "$csv")" -eq 13 ] || fail "expected 12 rows after resuming: $(cat "$csv")"
[ "$(tail -n +2 "$csv" | cut -d, -f1-5,12 | sort -u | wc -l)" -eq 12 ] || fail "rows are repeated: $(cat "$csv")"

"$scripts/draw" sweep "$csv" --out "$folder/plots"
for name in ratio busbw wire; do
  [ "$(head -c 4 "$folder/plots/$name.png" | tail -c 3)" = PNG ] || fail "$name.png is no PNG"
done
