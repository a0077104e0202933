#!/usr/bin/env bash
# A tiny scoreboard that really measures: rows, a page with tables between its markers, verdicts; the same command again measures nothing.
# usage: scoreboard_run_test.sh SCRIPTS_FOLDER BUILD_FOLDER
set -euo pipefail
scripts="$1"
build="$2"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() { echo "scoreboard_run_test: $*" >&2; exit 1; }
scoreboard() { "$scripts/scoreboard" --quick --only host --sizes 4,4K --build "$build" --out "$folder/results" --docs "$folder" "$@"; }

sed -n '/^<!-- scoreboard/p' "$scripts/../docs/benchmarks.md" >"$folder/benchmarks.md"
echo "text after" >>"$folder/benchmarks.md"

scoreboard >"$folder/said"
grep -q 'exact, one host, 2 and 4 ranks' "$folder/said" || fail "no verdict: $(cat "$folder/said")"
[ "$(find "$folder/results/host" -name '*.csv' | wc -l)" -eq 2 ] || fail "expected a file for 2 and one for 4 ranks"
grep -q '^| 4 KiB |' "$folder/benchmarks.md" || fail "no table in the page: $(cat "$folder/benchmarks.md")"
[ "$(tail -1 "$folder/benchmarks.md")" = "text after" ] || fail "the page's own text was changed"

before="$(cat "$folder"/results/host/*.csv)"
scoreboard >/dev/null
[ "$(cat "$folder"/results/host/*.csv)" = "$before" ] || fail "a finished scoreboard measured again"

status=0
scoreboard --only nonsense >/dev/null 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "an unknown part gave exit status $status"
