#!/bin/sh
# Prints, for go test -run, the tests of a folder of which make test runs some cases, or none.
cd "$(dirname "$0")/../$1" || exit
awk '
	FNR == 1 { slow = /go:build slow/ }
	/^func / { test = "" }
	/^func Test/ { test = $2; sub(/\(.*/, "", test) }
	test != "" && (slow || /[sS]omeOf\(|Thorough/) { print test }
' *_test.go | sort -u | paste -sd '|' -
