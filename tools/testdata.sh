#!/usr/bin/env bash
# Prints the folder of test data: MUNINN_TESTDATA, else one beside the checkout, or one folder further down there. It is known by its
# folders aah, conformance and webkb. Prints nothing if there is none.
set -euo pipefail
if [ -n "${MUNINN_TESTDATA:-}" ]; then
  echo "$MUNINN_TESTDATA"
  exit
fi
shopt -s nullglob
for found in "$(dirname "$0")"/../../*/conformance "$(dirname "$0")"/../../*/*/conformance; do
  data=$(dirname "$found")
  if [ -d "$data/aah" ] && [ -d "$data/webkb" ]; then
    cd "$data" && pwd
    exit
  fi
done
