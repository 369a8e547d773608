#!/bin/sh
# Prints the tests of which make test runs some cases, or none: for each folder a line with its path
# and a pattern for go test -run. The tests of make attack, and those that need no server, have
# targets of their own.
cd "$(dirname "$0")/.." || exit
for folder in $(git ls-files '*_test.go' | xargs -n 1 dirname | sort -u | grep -vE '^(attack|browser|smoke|work/model|work/schedule)$'); do
	tests=$(awk '
		FNR == 1 { slow = /go:build slow/ }
		/^func / { test = "" }
		/^func Test/ { test = $2; sub(/\(.*/, "", test) }
		test != "" && (slow || /[sS]omeOf\(|Thorough/) { print test }
	' "$folder"/*_test.go | sort -u | paste -sd '|' -)
	[ -z "$tests" ] || echo "$folder" "^($tests)\$"
done
