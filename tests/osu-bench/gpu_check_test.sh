#!/usr/bin/env bash
# scripts/gpu-check refuses what it does not know, before it builds anything; and its report, on recorded rows: what a step that
# fails, hangs or finds no device makes of the table and of the exit status.
# usage: gpu_check_test.sh SCRIPTS_FOLDER
# shellcheck disable=SC2317  # functions that `expect` calls
set -euo pipefail
scripts="$1"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
failures=0

# expect WHAT STATUS WORD COMMAND...
expect() {
  local what="$1" wanted="$2" word="$3" output status=0
  shift 3
  output="$("$@" 2>&1 </dev/null)" || status=$?
  if [ "$status" -ne "$wanted" ] || ! grep -q -e "$word" <<<"$output"; then
    printf '%s: status %s, not %s, or no "%s" in:\n%s\n' "$what" "$status" "$wanted" "$word" "$output" >&2
    failures=$((failures + 1))
  fi
}

expect "help" 0 "usage: scripts/gpu-check" "$scripts/gpu-check" --help
expect "an unknown option" 2 "unknown option --bogus" "$scripts/gpu-check" --bogus
expect "an option without its value" 2 "--out needs a value" "$scripts/gpu-check" --out
expect "no number" 2 "--seconds soon" "$scripts/gpu-check" --seconds soon
expect "a folder that --fetch did not make" 2 "--packages $folder" "$scripts/gpu-check" --packages "$folder"
touch "$folder/something"
expect "fetching into a folder that is in use" 1 "is not empty" "$scripts/gpu-check" --fetch "$folder"
expect "a build folder with nothing in it" 1 "look at build  *FAIL" "$scripts/gpu-check" --no-build --build "$folder/empty" --out "$folder/out"

# As gc_bench gpu does.
cat >"$folder/with_device" <<'END'
echo "# Test GPU, compute capability 9.0"
END
cat >"$folder/without_device" <<'END'
echo "gc_bench gpu: no CUDA device: no driver" >&2; exit 77
END
chmod +x "$folder"/with*_device

cat >"$folder/codecs.csv" <<'END'
device,codec,type,work,form,size_bytes,where,ratio,ratio_q1,ratio_q3
Test GPU,2:4,fp32,encode,vector,268435456,cold,0.93,0.92,0.94
Test GPU,2:4,fp32,encode,warp,268435456,cold,0.71,0.70,0.72
Test GPU,2:4,bf16,encode,vector,268435456,cold,0.88,0.87,0.89
Test GPU,2:4,bf16,encode,vector,8388608,cold,0.99,0.98,0.99
END
cat >"$folder/allreduce.csv" <<'END'
ranks,codec,size_bytes,device,ratio,ratio_q1,ratio_q3,check,unlike_host_ranks
2,2:4,67108864,cuda,2.5,2.4,2.6,pass,0
END

# report OUT DEVICE COMMAND: build, then COMMAND as a step on the device that may take a second.
report() {
  bash -uo pipefail -c '
    . "$1/gpu_check_parts/report"
    mkdir -p "$2"; cp "$4"/codecs.csv "$2/codecs.csv"; cp "$4"/allreduce.csv "$2/allreduce.csv"
    begin_report "$2" 100
    step build build 10 true
    find_device "$4/$3"
    gpu_step "the step" tests 6 bash -c "$5"
    end_report' report "$scripts" "$folder/out$1" "$2" "$folder" "$3"
}

expect "all well" 0 "the step  *pass" report 1 with_device true
expect "the device's name" 0 "gpu-check: Test GPU" report 1 with_device true
expect "the better form" 0 "encode 2:4 fp32, 256 MiB.*0.93 (0.92-0.94, form vector)$" report 1 with_device true
expect "a figure that falls short" 0 "encode 2:4 bf16, 256 MiB.*0.88 .*BELOW" report 1 with_device true
expect "a figure that is not there" 0 "decode+sum 2:4 fp32.*not measured" report 1 with_device true
expect "ranks" 0 "2:4, 2 ranks, 64 MiB.*2.50 (2.4-2.6, check pass, unlike host: 0)" report 1 with_device true
expect "a failing step" 1 "the step  *FAIL  *exit status 3" report 2 with_device "exit 3"
expect "a hanging step" 1 "the step  *LATE  *stopped after 6 s" report 3 with_device "sleep 60"
expect "no device" 77 "no CUDA device: no driver" report 4 without_device true
expect "no device, and its step" 77 "the step  *-  *not run" report 4 without_device true
exit "$((failures > 0))"
