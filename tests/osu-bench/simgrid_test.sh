#!/usr/bin/env bash
# gradcoll simulate on sixteen ranks and fewer: the library's executor sums in the simulation, the replay takes as long as it does, near what the
# links allow, and the same in every run; the platform file says what the tree says.
# Usage: simgrid_test.sh GC_SIMULATE
set -euo pipefail
gradcoll_simulate=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# true_of EXPRESSION: awk's answer.
true_of() { awk "BEGIN { exit !($1) }"; }

# times TREE OPTIONS...: algorithm, simulated us and busiest link's us, a line a row.
times() {
    local tree=$1
    shift
    "$gradcoll_simulate" --tree "$tree" "$@" 2>/dev/null | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin): print(row["algorithm"], row["time_us"], row["busiest_link_us"])'
}

# A switch of 2, 9 and 5 ranks, and one rank alone.
python3 - >"$folder/lopsided.json" <<'PYTHON'
import json
ranks = iter(range(17))
leaf = lambda speed: {"rank": next(ranks), "bandwidth_gbytes_per_s": speed, "latency_us": 1}
branch = lambda count: {"kind": "switch", "bandwidth_gbytes_per_s": 12.5, "latency_us": 1, "children": [leaf(50) for _ in range(count)]}
print(json.dumps({"kind": "switch", "children": [branch(2), branch(8), branch(5), leaf(12.5)]}))
PYTHON
cat >"$folder/pair.json" <<'JSON'
{"children": [{"rank": 0, "bandwidth_gbytes_per_s": 10, "latency_us": 1}, {"rank": 1, "bandwidth_gbytes_per_s": 10, "latency_us": 1}]}
JSON

echo "the executor's results are right, and the replay takes as long"
for codec in exact 2:4 exact,bf16; do
    rows=$(times "$folder/lopsided.json" -m 1M --codec "$codec" --algorithm ours,executor --verify \
        --encode-speed 0 --decode-speed 0 --decode-reduce-speed 0) || fail "$codec: results or plans are wrong"
    read -r ours executor <<<"$(awk '{ print $2 }' <<<"$rows" | paste -sd' ')"
    true_of "$ours > 0 && ($ours - $executor)^2 < 0.01^2 * $ours^2" || fail "$codec: replayed in $ours us, executed in $executor us"
done

echo "the time is near the busiest link's"
read -r _ ours link <<<"$(times "$folder/lopsided.json" -m 4M --explain)"
true_of "$ours >= $link && $ours <= 1.4 * $link" || fail "$ours us where the busiest link needs $link us"

echo "chunks that go one behind the other are faster than chunks in lockstep"
read -r _ lockstep _ <<<"$(times "$folder/lopsided.json" -m 4M --paced off)"
true_of "$ours < $lockstep" || fail "paced $ours us, not paced $lockstep us"

echo "two runs give the same"
[ "$(times "$folder/lopsided.json" -m 1M --algorithm ours,ompi)" = "$(times "$folder/lopsided.json" -m 1M --algorithm ours,ompi)" ] ||
    fail "two runs differ"

echo "ranks of an engine agree, sooner where one of each host speaks for all"
read -r flat hosts <<<"$(times "switch(8x host(8x*))" --algorithm agree,agree-hosts | awk '{ print $2 }' | paste -sd' ')"
true_of "$hosts > 10 && $hosts < $flat" || fail "agreed in $flat us, by hosts in $hosts us"

echo "the platform file has the tree's figures"
"$gradcoll_simulate" --tree "$folder/pair.json" --platform-of >"$folder/pair.xml"
"$gradcoll_simulate" --tree "$folder/pair.json" --hosts-of >"$folder/pair.hosts"
read -r _ us _ <<<"$(times "(0 1)" -m 8M --platform "$folder/pair.xml" --hosts "$folder/pair.hosts" --chunk-bytes 0)"
# Two phases of 4 MiB each way at 10 GB/s, each over two links of 1 us.
true_of "$us > 842 && $us < 844" || fail "8 MiB between two ranks take $us us instead of 842.9"

echo "what cannot be done is refused"
for wrong in "--algorithm nonsense" "--codec 3:4" "--codec bound" "-m 2" "--tree (0"; do
    status=0
    # shellcheck disable=SC2086
    "$gradcoll_simulate" --tree "(0 1)" $wrong >/dev/null 2>&1 || status=$?
    [ "$status" -eq 2 ] || fail "$wrong: exit status $status instead of 2"
done

echo "a terminal shows how far it is, a file does not"
shown=$(python3 - "$gradcoll_simulate" --tree "(0 1)" -m 4K,1M <<'END'
import pty, sys
pty.spawn(sys.argv[1:])
END
)
grep -q 'gradcoll simulate: ours, 1048576 bytes; ' <<<"$shown" || fail "no progress on a terminal: $shown"
[ -z "$("$gradcoll_simulate" --tree "(0 1)" -m 4K,1M 2>&1 >/dev/null)" ] || fail "progress in a file"
