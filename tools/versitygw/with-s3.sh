#!/usr/bin/env bash
# Runs a command with an S3 server on loopback, which ends with the command:
#
#   tools/versitygw/with-s3.sh go test ./internal/archive/...
#
# The server is bin/versitygw, or the program that VERSITYGW names; it is built if it is missing (about 70 s). The
# command finds it through MUNINN_TEST_S3 (a URL), MUNINN_TEST_S3_ACCESS_KEY, MUNINN_TEST_S3_SECRET_KEY and
# MUNINN_TEST_S3_BUCKET. The exit code is the command's.
set -euo pipefail

if [ $# -eq 0 ]; then
	echo "usage: $0 COMMAND [ARGUMENT]..." >&2
	exit 2
fi

here=$(cd "$(dirname "$0")" && pwd)
server=${VERSITYGW:-$here/../../bin/versitygw}
if [ ! -x "$server" ]; then
	(cd "$here" && go build -o "$server" github.com/versity/versitygw/cmd/versitygw)
fi

work=$(mktemp -d)
pid=
cleanup() {
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

random_text() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# answers sends a request and waits at most two seconds for a status line.
answers() {
	local line
	{ exec 3<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 1
	printf 'GET / HTTP/1.0\r\n\r\n' >&3
	read -r -t 2 line <&3 || line=
	exec 3>&-
	[[ $line == HTTP/* ]]
}

export MUNINN_TEST_S3_ACCESS_KEY MUNINN_TEST_S3_SECRET_KEY MUNINN_TEST_S3_BUCKET=muninn-test
MUNINN_TEST_S3_ACCESS_KEY=$(random_text)
MUNINN_TEST_S3_SECRET_KEY=$(random_text)
mkdir -p "$work/root/$MUNINN_TEST_S3_BUCKET"

start() {
	ROOT_ACCESS_KEY=$MUNINN_TEST_S3_ACCESS_KEY ROOT_SECRET_KEY=$MUNINN_TEST_S3_SECRET_KEY \
		"$server" --port "127.0.0.1:$1" --quiet posix --sidecar "$work/meta" "$work/root" >"$work/log" 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		if ! kill -0 "$pid" 2>/dev/null; then
			wait "$pid" 2>/dev/null || true
			pid=
			return 1 # another process has taken the port, or the server cannot start at all
		fi
		if answers "$1"; then
			return 0
		fi
		sleep 0.1
	done
	echo "the S3 server does not answer after 10 s" >&2
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pid=
	return 1
}

mkdir -p "$work/meta"
for _ in 1 2 3 4 5; do
	port=$((20000 + RANDOM % 12000))
	if ! answers "$port" && start "$port"; then
		export MUNINN_TEST_S3="http://127.0.0.1:$port"
		break
	fi
done
if [ -z "${MUNINN_TEST_S3:-}" ]; then
	echo "the S3 server cannot be started:" >&2
	cat "$work/log" >&2
	exit 1
fi

code=0
"$@" || code=$?
exit "$code"
