#!/usr/bin/env bash
# Every bad option: exit status 2, what is wrong said once and by name, and no rank left hanging.
# usage: bad_options_test.sh SCRIPTS_FOLDER GC_ALLREDUCE
set -euo pipefail
scripts="$1"
program="$2"
failures=0

# refuse WORD OPTION...   WORD: what the message must name
refuse() {
  local word="$1" output status=0 said
  shift
  output="$(timeout 60 "$scripts/mpirun" -n 2 "$program" "$@" 2>&1 </dev/null)" || status=$?
  said="$(grep -c '^gc_allreduce: ' <<<"$output" || true)"
  if [ "$status" -ne 2 ] || [ "$said" -ne 1 ] || ! grep -q "^gc_allreduce: .*$word" <<<"$output"; then
    printf 'options %s: status %s, said %s times, expected "%s" in:\n%s\n' "$*" "$status" "$said" "$word" "$output" >&2
    failures=$((failures + 1))
  fi
}

refuse --bogus --bogus
refuse 5:2 -m 5:2
refuse --iterations -i 0
refuse foo -T foo
refuse zz --data zz
refuse /no/such/file --data file:/no/such/file
refuse KEY=VALUE --option nothing
refuse --feedback --feedback -T int32
refuse 9:9 --codec 9:9
refuse '(0 1' --tree '((0 1)'
refuse gc_no_such_key --option gc_no_such_key=1
exit "$((failures > 0))"
