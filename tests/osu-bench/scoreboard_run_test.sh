#!/usr/bin/env bash
# A tiny scoreboard that really measures: rows, a page with aims between its markers, CSV files, verdicts; the same command again measures
# nothing.
# usage: scoreboard_run_test.sh SCRIPTS_FOLDER BUILD_FOLDER
set -euo pipefail
scripts="$1"
build="$2"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() { echo "scoreboard_run_test: $*" >&2; exit 1; }
scoreboard() { "$scripts/measure" scoreboard --quick --only host --sizes 4,4K --build "$build" --out "$folder/results" --docs "$folder" "$@"; }

sed -n '/^<!-- scoreboard/p' "$scripts/../docs/benchmarks.md" >"$folder/benchmarks.md"
echo "text after" >>"$folder/benchmarks.md"

scoreboard >"$folder/said"
grep -q 'exact, one host, 2 and 4 ranks' "$folder/said" || fail "no verdict: $(cat "$folder/said")"
[ "$(find "$folder/results/host" -name '*.csv' | wc -l)" -eq 2 ] || fail "expected a file for 2 and one for 4 ranks"
grep -q '^| exact, one host, 2 and 4 ranks' "$folder/benchmarks.md" || fail "no aims in the page: $(cat "$folder/benchmarks.md")"
for ranks in 2 4; do
    grep -qE "^[a-z]+,$ranks,4096,[0-9.]+,[0-9.]+,[0-9.]+\$" "$folder/benchmarks/scoreboard-same-mpi.csv" || fail "no row of $ranks ranks"
done
[ "$(tail -1 "$folder/benchmarks.md")" = "text after" ] || fail "the page's own text was changed"

before="$(cat "$folder"/results/host/*.csv)"
scoreboard >/dev/null
[ "$(cat "$folder"/results/host/*.csv)" = "$before" ] || fail "a finished scoreboard measured again"

status=0
scoreboard --only nonsense >/dev/null 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "an unknown part gave exit status $status"
