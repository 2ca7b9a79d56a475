#!/usr/bin/env bash
# Builds muninn-worker of an earlier commit, and runs a command that finds it by a variable of its environment:
#
#   tools/upgrade/with-former.sh MUNINN_TEST_FORMER v0.1.0 go test ./internal/integration -run TestUpgrade
#
# The commit must be in the clone. The exit code is the command's.
set -euo pipefail

if [ $# -lt 3 ]; then
	echo "usage: $0 VARIABLE COMMIT COMMAND [ARGUMENT]..." >&2
	exit 2
fi
variable=$1 commit=$2
shift 2
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
echo "$variable is of $(git log -1 --format='%h, %cd: %s' --date=short "$commit")"

code=0
env "$variable=$work/muninn-worker" "$@" || code=$?
exit "$code"
