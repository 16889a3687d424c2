#!/usr/bin/env bash
# Adds a list of pictures, waits for it, and tries again what failed in passing. Prints the files that are finished.
#
#   nightly.sh LIST [SECONDS]     LIST is a manifest; SECONDS (default 3600) is how long to wait each time
#
# Another process works: "darkroom watch", or "darkroom run" in a crontab. The folders are those of the environment
# (DARKROOM_INBOX, DARKROOM_OUTBOX), else inbox and outbox here. Ends with 0 when all pictures are there, with 1 when some
# are missing, and otherwise with darkroom's exit code.
set -uo pipefail

list=${1:?usage: nightly.sh LIST [SECONDS]}
seconds=${2:-3600}

# The name of the job is all that add prints on standard output.
job=$(darkroom add "$list") || exit

# wait prints the path of the report and ends as the job did: 0, or 1 when entries failed, or 65 when it was rejected.
report=$(darkroom wait --timeout "$seconds" "$job")
code=$?

# What a server may do better the next time is worth a retry; what it will not find tomorrow either is not.
if [[ $code -eq 1 ]] && jq -e 'any(.entries[]; .error.retryable)' "$report" >/dev/null; then
  # Where that is refused, such as to a user who may not read the manifest, the first report stands.
  if again=$(darkroom retry "$job"); then
    report=$(darkroom wait --timeout "$seconds" "$again")
    code=$?
  fi
fi

case $code in
  0 | 1) ;;
  65) jq -r '.errors[] | "\(.where // "the file"): \(.message)"' "$report" >&2 ;;
  75) echo "$job has not ended after $seconds seconds; see darkroom status" >&2 ;;
  *) echo "darkroom ended with $code" >&2 ;;
esac
[[ $code -le 1 ]] || exit "$code"

jq -r --arg folder "$(dirname "$report")" '.entries[] | select(.output) | "\($folder)/\(.output.file)"' "$report"
jq -r '.entries[] | select(.error) | "\(.name): \(.error.code): \(.error.message)"' "$report" >&2
exit "$code"
