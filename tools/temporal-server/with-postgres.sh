#!/usr/bin/env bash
# Runs a command with a Temporal server on PostgreSQL, as deploy/temporal configures it, on loopback; both end with the command:
#
#   tools/temporal-server/with-postgres.sh go test -run TestDeployed ./internal/integration
#
# PostgreSQL is that of the system (Debian: apt-get install postgresql); its programs are found through PG_BIN, on PATH, or in
# /usr/lib/postgresql. Temporal's server and schema tool are built from pinned modules. The command finds the server through
# MUNINN_TEST_TEMPORAL (host and port). The exit code is the command's.
set -euo pipefail

if [ $# -eq 0 ]; then
	echo "usage: $0 COMMAND [ARGUMENT]..." >&2
	exit 2
fi

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$root/bin
for program in server sql; do
	if [ ! -x "$bin/temporal-$program" ]; then
		package=server
		[ "$program" = sql ] && package=tools/sql
		(cd "$here" && go build -o "$bin/temporal-$program" "go.temporal.io/server/cmd/$package")
	fi
done

if [ -z "${PG_BIN:-}" ]; then
	PG_BIN=$(dirname "$(readlink -f "$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n1 || true)")")
fi
if [ ! -x "$PG_BIN/initdb" ]; then
	echo "PostgreSQL is needed: apt-get install postgresql, or PG_BIN with the folder of initdb" >&2
	exit 1
fi

work=$(mktemp -d)
chmod 755 "$work"
pids=()
cleanup() {
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill -INT "${pids[i]}" 2>/dev/null || true
		wait "${pids[i]}" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# as runs a program as the owner of the database, which must not be root.
as=()
if [ "$(id -u)" = 0 ]; then
	as=(setpriv --reuid=postgres --regid=postgres --init-groups)
fi

# free prints ports of loopback that are free.
free() {
	local port found=0
	while [ "$found" -lt "$1" ]; do
		port=$((20000 + RANDOM % 12000))
		if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
			echo "$port"
			found=$((found + 1))
		fi
	done
}

# until_true waits at most a minute for a command to succeed.
until_true() {
	local what=$1 log=$2
	shift 2
	for _ in $(seq 300); do
		if "$@" >/dev/null 2>&1; then
			return 0
		fi
		sleep 0.2
	done
	echo "$what does not answer after a minute:" >&2
	tail -n 20 "$log" >&2
	exit 1
}

mapfile -t ports < <(free 10)
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
mkdir "$work/db"
printf '%s' "$password" >"$work/password"
[ ${#as[@]} -eq 0 ] || chown -R postgres "$work/db" "$work/password"
"${as[@]}" "$PG_BIN/initdb" --pgdata "$work/db" --username temporal --pwfile "$work/password" --auth scram-sha-256 >"$work/initdb.log"
"${as[@]}" "$PG_BIN/postgres" -D "$work/db" -p "${ports[0]}" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >"$work/postgres.log" 2>&1 &
pids+=($!)
until_true PostgreSQL "$work/postgres.log" "$PG_BIN/pg_isready" -h 127.0.0.1 -p "${ports[0]}"

schema() { SQL_PASSWORD=$password "$bin/temporal-sql" --plugin postgres12_pgx --ep 127.0.0.1 -p "${ports[0]}" -u temporal "$@" >>"$work/schema.log" 2>&1 || { cat "$work/schema.log" >&2; exit 1; }; }
for kind in temporal visibility; do
	db=temporal
	[ "$kind" = visibility ] && db=temporal_visibility
	schema --db "$db" create
	schema --db "$db" setup-schema --version 0.0
	schema --db "$db" update-schema --schema-name "postgresql/v12/$kind"
done

export MUNINN_TEST_TEMPORAL=127.0.0.1:${ports[1]}
POSTGRES_ADDRESS=127.0.0.1:${ports[0]} POSTGRES_PASSWORD=$password NUM_HISTORY_SHARDS=4 \
	FRONTEND_PORT=${ports[1]} FRONTEND_ADDRESS=$MUNINN_TEST_TEMPORAL FRONTEND_MEMBERSHIP_PORT=${ports[2]} \
	MATCHING_PORT=${ports[3]} MATCHING_MEMBERSHIP_PORT=${ports[4]} HISTORY_PORT=${ports[5]} HISTORY_MEMBERSHIP_PORT=${ports[6]} \
	WORKER_PORT=${ports[7]} WORKER_MEMBERSHIP_PORT=${ports[8]} METRICS_ADDRESS=127.0.0.1:${ports[9]} \
	DYNAMIC_CONFIG=$root/deploy/temporal/dynamic.yaml \
	"$bin/temporal-server" --root "$root/deploy" --config temporal --env muninn --allow-no-auth start >"$work/temporal.log" 2>&1 &
pids+=($!)
temporal=$(command -v temporal || echo "$bin/temporal")
until_true Temporal "$work/temporal.log" "$temporal" operator cluster health --address "$MUNINN_TEST_TEMPORAL"
"$temporal" operator namespace describe default --address "$MUNINN_TEST_TEMPORAL" >/dev/null 2>&1 ||
	"$temporal" operator namespace create default --retention 72h --address "$MUNINN_TEST_TEMPORAL" >/dev/null

code=0
"$@" || code=$?
[ "$code" = 0 ] || tail -n 20 "$work/temporal.log" >&2
exit "$code"
