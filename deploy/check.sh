#!/usr/bin/env bash
# Checks what stands in deploy/ without starting anything: rules and their tests (promtool), the dashboard, the Kubernetes manifests
# (every field is known), the unit (systemd-analyze), the compose file (docker compose). What has no program here is named.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
left=()
has() { command -v "$1" >/dev/null 2>&1; }

if has promtool; then
	promtool check rules "$here/prometheus/rules.yaml"
	promtool test rules "$here/prometheus/rules_test.yaml"
	promtool check config --syntax-only "$here/prometheus/prometheus.yaml"
else
	left+=("prometheus: promtool is missing (Debian: apt-get install prometheus)")
fi

(cd "$here/../tools/manifests" && go run . "$here/kubernetes/muninn.yaml")

if has systemd-analyze; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	sed "s#^ExecStart=[^ ]*#ExecStart=/bin/true#" "$here/muninn-worker.service" >"$work/muninn-worker.service"
	if ! said=$(systemd-analyze verify "$work/muninn-worker.service" 2>&1) || [ -n "$said" ]; then # what is not known is only warned of
		echo "$said" >&2
		exit 1
	fi
	echo "muninn-worker.service: ok"
else
	left+=("muninn-worker.service: systemd-analyze is missing")
fi

if has docker && docker compose version >/dev/null 2>&1; then
	POSTGRES_PASSWORD=x S3_SECRET_KEY=x docker compose -f "$here/compose.yaml" config --quiet
	echo "compose.yaml: ok"
else
	left+=("compose.yaml: docker compose is missing")
fi
left+=("Containerfile: it is not built here")
[ ${#left[@]} -eq 0 ] || printf 'not checked: %s\n' "${left[@]}"
