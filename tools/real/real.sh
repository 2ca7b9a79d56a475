#!/usr/bin/env bash
# Crawls real documentation: the HTML of three Debian packages, each served by nginx as a host of its
# own on loopback, through a Temporal server and a worker into an S3 server, as an operator would:
#
#   tools/real/real.sh
#
# 1. a focused crawl of all hosts; 2. a crawl that the Temporal CLI starts, with a batch that is
# terminated and reset; 3. a schedule that is triggered twice. Each archive is checked, and compared
# with the files on disk, and no pattern of URLs may be closed as a trap. The exit code is 0 only if all checks hold.
#
# Packages that are missing are installed with apt-get, for which it must run as root. All state is
# in a temporary folder; MUNINN_REAL_DIR names one that is kept. With MUNINN_REAL_HOLD=1, everything keeps
# running at the end until Enter is pressed. MUNINN_REAL_THEN is a shell command that is run at the end, while the S3 server runs:
# MUNINN_REPLAY_ARCHIVE has the archive, MUNINN_S3_ENDPOINT, MUNINN_S3_ACCESS_KEY and MUNINN_S3_SECRET_KEY lead to it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
export PATH=$repo/bin:$PATH:/usr/sbin:/sbin

die() {
	echo "real.sh: $*" >&2
	exit 1
}

python_docs=/usr/share/doc/python3/html
postgres_docs=/usr/share/doc/postgresql-doc-15
handbook_docs=/usr/share/doc/debian-handbook/html

# install installs the packages that are missing. It prevents the start of the nginx service; after a reboot
# the service would start, unless it is disabled.
policy=
finish() {
	[ -z "$policy" ] || rm -f "$policy"
	policy=
}
install() {
	local missing=()
	[ -e "$python_docs/index.html" ] || missing+=(python3-doc)
	[ -e "$postgres_docs/html/index.html" ] || missing+=(postgresql-doc-15)
	[ -e "$handbook_docs/en-US/index.html" ] || missing+=(debian-handbook)
	[ -x "$(command -v nginx)" ] || missing+=(nginx-light)
	[ -x "$(command -v jq)" ] || missing+=(jq)
	[ ${#missing[@]} -gt 0 ] || return 0
	[ -x "$(command -v apt-get)" ] || die "this needs Debian, or these by other means: ${missing[*]}"
	[ "$(id -u)" = 0 ] || die "run it as root once, or install these first: apt-get install ${missing[*]}"
	echo "installing ${missing[*]} …"
	if [ ! -e /usr/sbin/policy-rc.d ]; then
		policy=/usr/sbin/policy-rc.d
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
	local code=0
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$work/apt.log" 2>&1 || code=$?
	finish
	[ $code = 0 ] || { tail -20 "$work/apt.log" >&2; die "apt-get failed"; }
}

# The outer half: a folder, packages, and an S3 server around the inner half.
if [ "${1:-}" != inner ]; then
	if [ -n "${MUNINN_REAL_DIR:-}" ]; then
		mkdir -p "$MUNINN_REAL_DIR"
		work=$(cd "$MUNINN_REAL_DIR" && pwd)
		[ -z "$(ls -A "$work")" ] || die "MUNINN_REAL_DIR is not empty: $work"
	else
		work=$(mktemp -d)
		temporary=$work
	fi
	trap 'finish; [ -z "${temporary:-}" ] || rm -rf "$temporary"' EXIT
	for program in muninn muninn-worker temporal; do
		[ -x "$(command -v $program)" ] || die "$program is missing: make build temporal"
	done
	install
	mkdir -p "$work/s3"
	export MUNINN_REAL_WORK=$work
	TMPDIR=$work/s3 "$repo/tools/versitygw/with-s3.sh" "$0" inner || exit $?
	exit 0
fi

# ---- the inner half ----

work=$MUNINN_REAL_WORK
unset TMPDIR
s3=$(echo "$work"/s3/*/root/"$MUNINN_TEST_S3_BUCKET")
[ -d "$s3" ] || die "cannot find the folder of the S3 server"

pids=()
cleanup() {
	local i
	trap - EXIT
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2>/dev/null || true
		wait "${pids[i]}" 2>/dev/null || true
	done
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'echo "real.sh: out of time" >&2; exit 143' TERM

began=$SECONDS
bad=0
title() { printf '\n== %s (%d s)\n' "$*" $((SECONDS - began)); }
ok() { echo "  ok    $*"; }
fault() {
	echo "  FAULT $*"
	bad=$((bad + 1))
}
# check WHAT TEST…: a line, and a fault if the test fails.
check() {
	local what=$1
	shift
	if "$@"; then ok "$what"; else fault "$what"; fi
}
holds() { [ "$(jq -n "$1")" = true ]; }
# no_traps CRAWL RESULT: none of these pages is part of a site without end.
no_traps() {
	jq -r '.traps[]? | "  closed: \(.pattern): \(.evidence)"' "$2"
	check "no pattern of $1 is closed as a trap" holds "$(jq 'has("totals") and (.traps // []) == []' "$2")"
}

# until_ok SECONDS COMMAND…: tries until it succeeds.
until_ok() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}
free_port() {
	local port
	while :; do
		port=$((20000 + RANDOM % 12000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	echo $port
}

# A run takes a minute and a half without MUNINN_REAL_THEN; this bounds it whatever happens.
if [ -z "${MUNINN_REAL_HOLD:-}" ]; then
	(
		trap 'kill $! 2>/dev/null; exit 0' TERM
		sleep "${MUNINN_REAL_SECONDS:-360}" &
		wait $!
		kill -TERM $$
	) &
	pids+=($!)
fi

cp "$repo/bin/muninn" "$repo/bin/muninn-worker" "$work/" # others may build meanwhile
PATH=$work:$PATH
go build -buildvcs=false -o "$work/pages" "$here/pages.go"
go build -C "$repo" -buildvcs=false -o "$work/archivecheck" ./internal/archivecheck/archivecheck

# ---- nginx: a host a tree ----

port=$(free_port)
web=$work/nginx
mkdir -p "$web"
cat >"$web/nginx.conf" <<END
worker_processes 1;
pid $web/nginx.pid;
error_log $web/error.log warn;
events { worker_connections 256; }
http {
	include /etc/nginx/mime.types;
	default_type application/octet-stream;
	charset off;
	index index.html;
	log_format times '\$msec\t\$request_time\t\$status\t\$body_bytes_sent\t\$request_method\t\$request_uri\t\$connection\t\$http_user_agent';
	client_body_temp_path $web/body;
	proxy_temp_path $web/proxy;
	fastcgi_temp_path $web/fastcgi;
	uwsgi_temp_path $web/uwsgi;
	scgi_temp_path $web/scgi;
	server { # two names of one tree, and a redirect
		listen 127.78.0.1:$port;
		server_name python.docs.test;
		access_log $web/python.log times;
		location = / { return 302 /3/; }
		location / { return 404; }
		location /3/ { alias $python_docs/; }
		location /3.11/ { alias $python_docs/; }
	}
	server { # compressed, and a folder without an index
		listen 127.78.0.2:$port;
		server_name postgres.docs.test;
		access_log $web/postgres.log times;
		gzip on;
		root $postgres_docs/html;
		location /tutorial/ { alias $postgres_docs/tutorial/; autoindex on; }
		location = /robots.txt { return 200 "User-agent: *\nDisallow: /bookindex.html\nAllow: /\n"; }
	}
	server { # all languages; robots.txt asks for a pause, and disallows one language
		listen 127.78.0.3:$port;
		server_name handbook.docs.test;
		access_log $web/handbook.log times;
		root $handbook_docs;
		autoindex on;
		location = /robots.txt { return 200 "User-agent: *\nCrawl-delay: 0.15\nDisallow: /zh-CN/\n"; }
	}
}
END
nginx -p "$web" -e "$web/error.log" -c "$web/nginx.conf" -g 'daemon off;' >"$web/out.log" 2>&1 &
pids+=($!)
python=http://python.docs.test:$port postgres=http://postgres.docs.test:$port handbook=http://handbook.docs.test:$port
for address in 1 2 3; do
	until_ok 10 bash -c "exec 3<>/dev/tcp/127.78.0.$address/$port" || { cat "$web"/*.log >&2; die "nginx does not answer"; }
done
roots=("$python/3/=$python_docs/" "$python/3.11/=$python_docs/" "$postgres/tutorial/=$postgres_docs/tutorial/"
	"$postgres/=$postgres_docs/html/" "$handbook/=$handbook_docs/")

# ---- Temporal and a worker ----

front=$(free_port)
ui=$(free_port)
listen=$(free_port)
temporal server start-dev --ip 127.0.0.1 --port "$front" --ui-port "$ui" --db-filename "$work/temporal.db" \
	--sqlite-pragma journal_mode=wal --sqlite-pragma synchronous=normal --log-level warn >"$work/temporal.log" 2>&1 &
pids+=($!)
export TEMPORAL_ADDRESS=127.0.0.1:$front
until_ok 60 temporal operator cluster health || { tail "$work/temporal.log" >&2; die "Temporal does not answer"; }

export MUNINN_S3_ACCESS_KEY=$MUNINN_TEST_S3_ACCESS_KEY MUNINN_S3_SECRET_KEY=$MUNINN_TEST_S3_SECRET_KEY
muninn-worker --temporal "$TEMPORAL_ADDRESS" --name real --data "$work/data" --listen "127.0.0.1:$listen" \
	--archive "s3://$MUNINN_TEST_S3_BUCKET/crawls" --s3-endpoint "$MUNINN_TEST_S3" --allow-network 127.78.0.0/24 \
	--resolve python.docs.test=127.78.0.1,postgres.docs.test=127.78.0.2,handbook.docs.test=127.78.0.3 \
	--linger 100ms --retry-base 2s >"$work/worker.log" 2>&1 &
pids+=($!)
worker=$!
until_ok 30 grep -q "worker is up" "$work/worker.log" || { tail "$work/worker.log" >&2; die "the worker does not come up"; }
mun() {
	local command=$1
	shift
	if [ "$command" = schedule ]; then
		command="$command $1"
		shift
	fi
	# shellcheck disable=SC2086 # a command may have two words
	muninn $command --temporal "$TEMPORAL_ADDRESS" "$@"
}
title "three hosts at port $port, S3 at $MUNINN_TEST_S3, the UI at http://127.0.0.1:$ui"

# ---- what the parts have in common ----

# wait_for WORKFLOW SECONDS FILE: the result of a workflow, as JSON.
wait_for() {
	if ! timeout "$2" temporal workflow result --workflow-id "$1" --output json >"$work/raw.json" 2>&1; then
		cat "$work/raw.json" >&2
		fault "$1 has not ended after $2 s"
		mun status "${4:-${1#crawl/}}" || true
		echo '{}' >"$3"
		return 0
	fi
	jq '.result // .' "$work/raw.json" >"$3"
}

# archive CRAWL [FLAG…]: the archive of a crawl, checked and compared with the files on disk.
archive() {
	local crawl=$1 code=0
	shift
	rm -rf "$work/copy"
	mkdir "$work/copy"
	cp -r "$s3/crawls/$crawl" "$work/copy/"
	"$work/archivecheck" "$work/copy" >"$work/check-$crawl.txt" || code=$?
	sed 's/^/  /' "$work/check-$crawl.txt" | head -30
	check "archivecheck finds no fault in $crawl" [ $code = 0 ]
	check "no object of $crawl is without a manifest" grep -qx 'orphans 0' "$work/check-$crawl.txt"
	code=0
	"$work/pages" "$@" "$work/copy" "${roots[@]}" >"$work/pages-$crawl.txt" || code=$?
	sed 's/^/  /' "$work/pages-$crawl.txt" | head -60
	check "the archived bytes are those on disk" [ $code = 0 ]
}

# hosts DELAY: what each host saw since the last time, and whether it was asked politely.
hosts() {
	local host log from
	for host in python postgres handbook; do
		log=$web/$host.log
		from=$(cat "$web/$host.seen" 2>/dev/null || echo 0)
		wc -l <"$log" >"$web/$host.seen"
		[ "$(cat "$web/$host.seen")" -gt "$from" ] || continue
		tail -n +$((from + 1)) "$log" | awk -F'\t' -v host=$host -v delay="$1" '
			{ n++; status[$3]++; bytes += $4; busy += $2; seen[$6]++; if (!($7 in conns)) { conns[$7]; c++ } }
			n == 1 { first = $1 }
			n > 1 { gap = $1 - $2 - last; if (gap < least || n == 2) { least = gap; where = $6 }; if (gap < -0.002) side++ }
			{ last = $1 }
			END {
				for (s in status) list = list " " s ":" status[s]
				for (u in seen) if (seen[u] > 1 && u != "/robots.txt") again++
				printf "%-9s %d requests in %.1f s on %d connections, %.1f MB, status%s, %d URLs asked again, shortest pause %.3f s (%s), %d side by side\n",
					host, n, last - first, c, bytes / 1e6, list, again, least, where, side
				exit !(n < 2 || side == 0 && least >= delay - 0.003)
			}' >"$work/host.txt" && check "$(cat "$work/host.txt")" true || check "$(cat "$work/host.txt")" false
	done
}

# ---- 1. a focused crawl of all hosts ----

cat >"$work/docs.yaml" <<END
name: docs
description: documentation of Python, PostgreSQL and Debian
seeds: ["$python/", "$python/3.11/library/asyncio.html", "$postgres/", "$postgres/tutorial/", "$handbook/en-US/"]
topic:
  keywords: [asyncio, coroutine, event loop, transaction isolation, replication, concurrency]
  threshold: 0.15 # six keywords of two subjects: no page has them all
scope:
  hosts: [python.docs.test, postgres.docs.test, handbook.docs.test]
budget: {pages: 600, time: 3m}
politeness: {min_delay: 20ms, contact: "mailto:operator@docs.test"}
archive: {operator: make real}
END
title "1. a focused crawl of all hosts"
muninn check "$work/docs.yaml"
mun start "$work/docs.yaml"
sleep 4
echo "  while it runs:"
mun status docs
temporal workflow list --query "MuninnCrawl='docs' AND ExecutionStatus='Running'" | head -12
temporal workflow query --type status --workflow-id politeness/0 --output json | jq -c '.queryResult[0].addresses'
wait_for crawl/docs 150 "$work/docs.json"
title "it has ended"
mun status docs
temporal workflow show --workflow-id crawl/docs | tail -12 | cut -c1-400
jq -c '{reason, run, totals, harvest_ratio}' "$work/docs.json"
check "600 pages, or all there are" holds "$(jq '.totals.pages >= 600 or .reason == "drained"' "$work/docs.json")"
no_traps docs "$work/docs.json"
check "no batch failed" holds "$(jq '.totals.failed_batches == 0' "$work/docs.json")"
hosts 0.020
archive docs -once -focused
curl -s "http://127.0.0.1:$listen/metrics" | grep -E '^muninn_(outcomes|responses|archived)' | sed 's/^/  /' || true

# ---- 2. the Temporal CLI; a batch is terminated and reset ----

cat >"$work/postgres.yaml" <<END
name: postgres
seeds: ["$postgres/"]
order: {per_queue: 150}
budget: {pages: 400, time: 3m}
politeness: {min_delay: 60ms}
END
title "2. a crawl that the Temporal CLI starts"
muninn check "$work/postgres.yaml"
muninn check --json "$work/postgres.yaml" >"$work/postgres.json"
temporal workflow start --type Crawl --task-queue muninn --workflow-id crawl/postgres --input-file "$work/postgres.json"

# half finds a batch that has fetched some of its URLs, and more than that are left.
half() {
	local id
	for id in $(temporal workflow list --query "WorkflowType='Batch' AND MuninnCrawl='postgres' AND ExecutionStatus='Running'" --output json | jq -r '.[].execution.workflowId'); do
		temporal workflow describe --workflow-id "$id" --output json |
			jq -e '[.pendingActivities[]? | .heartbeatDetails // empty | if type == "array" then .[0] else . end | select(.fetched > 5 and .of - .fetched > 50)] | length > 0' >/dev/null || continue
		echo "$id" >"$work/victim"
		temporal workflow describe --workflow-id "$id" --output json | jq -c '.pendingActivities' >"$work/victim.json"
		return 0
	done
	return 1
}
if until_ok 30 half; then
	victim=$(cat "$work/victim")
	echo "  terminating $victim: $(cut -c1-600 "$work/victim.json")"
	temporal workflow terminate --workflow-id "$victim" --reason "make real"
	temporal workflow reset --workflow-id "$victim" --type FirstWorkflowTask --reason "make real"
	wait_for "$victim" 60 "$work/victim-result.json"
	jq -c . "$work/victim-result.json"
	check "the batch that was terminated and reset is done" holds "$(jq '.archived.pages > 0' "$work/victim-result.json")"
	check "it continued with what it had fetched before" holds "$(jq '(.fetched.resumed // 0) > 5' "$work/victim-result.json")"
	temporal workflow list --query "WorkflowId='$victim'"
else
	fault "no batch was found in the middle of its work"
fi
wait_for crawl/postgres 90 "$work/postgres-result.json"
mun status postgres
no_traps postgres "$work/postgres-result.json"
check "400 pages" holds "$(jq '.totals.pages >= 400' "$work/postgres-result.json")"
hosts 0.060
archive postgres -once

# ---- 3. a schedule, triggered twice ----

cat >"$work/nightly.yaml" <<END
name: nightly
seeds: ["$handbook/en-US/"]
scope: {include: ["$handbook/en-US/*"]}
budget: {pages: 1000, time: 2m}
politeness: {min_delay: 20ms, max_crawl_delay: 20ms}
END
title "3. a schedule"
mun schedule create "$work/nightly.yaml" --every 24h
runs() { temporal workflow list --query "WorkflowType='Crawl' AND MuninnCrawl='nightly'" --output json; }
latest() { runs | jq -r 'sort_by(.startTime) | last | .execution.workflowId // empty'; }
appeared() { [ "$(runs | jq length)" = "$1" ]; }
for n in 1 2; do
	if [ $n = 1 ]; then mun schedule trigger nightly; else temporal schedule trigger --schedule-id nightly; fi
	if ! until_ok 20 appeared $n; then
		fault "run $n has not begun"
		break
	fi
	id=$(latest)
	wait_for "$id" 90 "$work/nightly-$n.json" nightly
	echo "  $id: $(jq -c '{reason, run, totals}' "$work/nightly-$n.json")"
	title "run $n has ended"
	no_traps nightly "$work/nightly-$n.json"
	hosts 0.020
done
mun schedule list
mun status nightly
check "both runs saw as much" holds "$(jq -s '.[0].totals.pages == .[1].totals.pages and .[0].totals.pages > 100' "$work"/nightly-[12].json)"
check "the second run archived revisits alone" holds "$(jq -s '.[1].totals | .revisits == .pages + .requisites_archived' "$work"/nightly-[12].json)"
check "it cost less than a tenth of the bytes" holds "$(jq -s '.[1].totals.bytes * 10 < .[0].totals.bytes' "$work"/nightly-[12].json)"
archive nightly
mun schedule delete nightly

title "the end"
check "the worker still lives" kill -0 $worker
# The activity of the terminated batch is cancelled; the log shows it.
grep -E 'level=(ERROR|WARN)|panic' "$work/worker.log" | grep -v 'Error="context canceled"' >"$work/errors.txt" || true
cut -c1-300 "$work/errors.txt"
check "its log has no other errors" [ ! -s "$work/errors.txt" ]
if [ -n "${MUNINN_REAL_THEN:-}" ]; then
	title "$MUNINN_REAL_THEN"
	export MUNINN_REPLAY_ARCHIVE=s3://$MUNINN_TEST_S3_BUCKET/crawls MUNINN_S3_ENDPOINT=$MUNINN_TEST_S3
	check "it succeeds" bash -c "$MUNINN_REAL_THEN"
fi
if [ -n "${MUNINN_REAL_HOLD:-}" ]; then
	echo "TEMPORAL_ADDRESS=$TEMPORAL_ADDRESS; UI: http://127.0.0.1:$ui; metrics: http://127.0.0.1:$listen/metrics; press Enter to end"
	read -r _ || true
fi
if [ $bad -gt 0 ]; then
	echo "$bad checks do not hold"
	exit 1
fi
echo "all checks hold"
