#!/bin/sh
# Runs every fuzz test of the repository for a time, as go test -fuzz takes only one at once.
# Usage: tools/fuzz.sh 20s
set -eu
cd "$(dirname "$0")/.."

grep -ro --include='*_test.go' '^func Fuzz[[:alnum:]_]*' . | sort | while IFS=: read -r file func; do
	name=${func#func }
	echo "$name in ${file%/*}"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$1" "${file%/*}" </dev/null
done
