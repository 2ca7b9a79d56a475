#!/usr/bin/env bash
# Builds muninn-worker of an earlier commit, and runs a command that finds it by MUNINN_TEST_FORMER:
#
#   tools/upgrade/with-former.sh v0.1.0 go test ./internal/integration -run TestUpgrade
#
# The commit must be in the clone. The exit code is the command's.
set -euo pipefail

if [ $# -lt 2 ]; then
	echo "usage: $0 COMMIT COMMAND [ARGUMENT]..." >&2
	exit 2
fi
commit=$1
shift
cd "$(dirname "$0")/../.."
if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
	echo "$0: the clone does not have commit $commit." >&2
	if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
		echo "It is shallow: git fetch --unshallow --tags" >&2
	fi
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir "$work/source"
git archive "$commit" | tar -x -C "$work/source"
(cd "$work/source" && go build -o "$work/muninn-worker" ./worker/muninn-worker)
rm -rf "$work/source"
echo "the former worker is of $(git log -1 --format='%h, %cd: %s' --date=short "$commit")"

code=0
MUNINN_TEST_FORMER=$work/muninn-worker "$@" || code=$?
exit "$code"
