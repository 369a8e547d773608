#!/bin/sh
# Installs from the system's package manager what is missing of: postgresql (with psql and pgbench), compiler (for
# go test -race), clock (the library that gives a server another clock), make, npm (which has servers of all versions),
# promtool (of Prometheus, for a test of the metrics), psycopg (for a test of the guide), chromium (for tests of the page), and of extensions that tests meet: pg_cron, pgagent, pgq.
# Usage: install.sh [-n] postgresql|compiler|clock|make|npm|promtool|chromium|pg_cron|pgagent|pgq|psycopg ...
# With -n it installs nothing: it says what is missing and which packages have it, and fails.
set -eu

say() { printf '%s\n' "$*" >&2; }

die() {
	say "$@"
	exit 1
}

# Where distributions put PostgreSQL; binaries.go has the same list.
places='
/usr/lib/postgresql/*/bin
/usr/lib/postgresql*/bin
/usr/pgsql-*/bin
/usr/libexec/postgresql*
/opt/homebrew/opt/postgresql*/bin
/usr/local/opt/postgresql*/bin
/home/linuxbrew/.linuxbrew/opt/postgresql*/bin
/Applications/Postgres.app/Contents/Versions/*/bin
/usr/local/pgsql/bin
/usr/local/bin
/usr/bin
'

has_postgresql() {
	if [ -n "${PG_BINDIR:-}" ]; then
		[ -x "$PG_BINDIR/initdb" ] && [ -x "$PG_BINDIR/postgres" ] && return
		die "PG_BINDIR is $PG_BINDIR, which does not hold initdb and postgres: unset it or point it to them"
	fi
	for dir in $places "$(pg_config --bindir 2>/dev/null || :)"; do
		[ -x "$dir/initdb" ] && [ -x "$dir/postgres" ] && return
	done
	return 1
}

# A compiler without the headers of the C library is no use to cgo.
has_compiler() {
	printf '#include <stdlib.h>\nint main(void) { return 0; }\n' |
		"${CC:-$(command -v gcc || command -v cc || echo gcc)}" -x c -o /dev/null - 2>/dev/null
}

has_clock() {
	for library in /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/lib*/faketime/libfaketimeMT.so.1 /usr/local/lib/faketime/libfaketimeMT.so.1; do
		[ -e "$library" ] && return
	done
	return 1
}

has_extension() {
	for file in /usr/share/postgresql/*/extension/"$1".control; do
		[ -e "$file" ] && return
	done
	return 1
}

has_pg_cron() { has_extension pg_cron; }
has_pgagent() { has_extension pgagent; }
has_pgq() { has_extension pgq; }

has_make() { command -v make >/dev/null; }

has_npm() { command -v npm >/dev/null; }

has_promtool() { command -v promtool >/dev/null; }

# The names under which the driver of the tests finds it.
has_chromium() {
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		command -v "$name" >/dev/null && return
	done
	return 1
}

has_psycopg() {
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import psycopg' 2>/dev/null && return
	done
	return 1
}

# package MANAGER THING prints the packages to install.
packages() {
	case "$1 $2" in
	'apt-get postgresql') echo postgresql ;;
	'apt-get clock') echo faketime ;;
	'apt-get pg_cron') ls -d /usr/lib/postgresql/*/bin | sed 's|.*/\([0-9]*\)/bin|postgresql-\1-cron|' ;;
	'apt-get pgagent' | 'apt-get pgq') ;; # apt_extension
	*' pg_cron' | *' pgagent' | *' pgq') die "$2 is not installed, and this script knows its package with apt-get alone" ;;
	'apt-get compiler') echo gcc libc6-dev ;;
	'pacman postgresql') echo postgresql ;;
	'pacman compiler') echo gcc ;;
	'apk postgresql') echo postgresql postgresql-client postgresql-contrib ;;
	'apk compiler') echo gcc musl-dev ;;
	'brew postgresql') echo postgresql@17 ;;
	'brew chromium') die "Chromium is missing; install it by hand" ;;
	*' chromium') echo chromium ;;
	'brew psycopg') die "psycopg is missing; install it for python3 by hand" ;;
	'brew npm') echo node ;;
	'brew '*) die "$2 is missing; install Apple's command line tools: xcode-select --install" ;;
	*' postgresql') echo postgresql postgresql-server postgresql-contrib ;;
	*' clock') echo libfaketime ;;
	*' compiler') echo gcc glibc-devel ;;
	*' make') echo make ;;
	*' npm') echo npm ;;
	'apt-get psycopg') echo python3-psycopg ;;
	'pacman psycopg') echo python-psycopg ;;
	'apk psycopg') echo py3-psycopg ;;
	*' psycopg') echo python3-psycopg3 ;;
	'apt-get promtool') ;; # apt_promtool
	'dnf promtool' | 'yum promtool') echo golang-github-prometheus ;;
	*' promtool') echo prometheus ;;
	esac
}

find_manager() {
	for manager in apt-get dnf yum zypper apk pacman brew; do
		command -v "$manager" >/dev/null && echo "$manager" && return
	done
	die "missing: $missing, and no package manager that this script knows (apt-get, dnf, yum, zypper, apk, pacman, brew): install by hand"
}

# run says a command and runs it, as root.
run() {
	say "+ $sudo${sudo:+ }$*"
	$sudo "$@"
}

# On Debian the package would make and start a cluster of its own, which nobody has asked for. The file goes again
# afterwards: later installations are the owner's business.
apt_install() {
	no_cluster=/etc/postgresql-common/createcluster.d/pgtaskd.conf
	trap '$sudo rm -f "$no_cluster"' EXIT
	run mkdir -p "${no_cluster%/*}"
	echo 'create_main_cluster = false' | run tee "$no_cluster" >/dev/null
	run apt-get update || say 'apt-get update failed; trying with the lists as they are'
	run env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

# Debian's package would start a Prometheus that nobody has asked for, so promtool alone is taken out of it.
apt_promtool() {
	folder=$(mktemp -d)
	run apt-get update || say 'apt-get update failed; trying with the lists as they are'
	(cd "$folder" && say '+ apt-get download prometheus' && apt-get download prometheus >&2 && dpkg-deb -x prometheus_*.deb .)
	run cp "$folder/usr/bin/promtool" /usr/local/bin/promtool
	rm -rf "$folder"
}

# These packages bring daemons that nobody has asked for, so the extension alone is taken out of them.
apt_extension() {
	folder=$(mktemp -d)
	run apt-get update || say 'apt-get update failed; trying with the lists as they are'
	(cd "$folder" && say "+ apt-get download $*" && apt-get download "$@" >&2 && for file in *.deb; do dpkg-deb -x "$file" .; done)
	(cd "$folder/usr" && find lib/postgresql share/postgresql -type f ! -path '*/bitcode/*' 2>/dev/null) | while read -r file; do
		run mkdir -p "/usr/${file%/*}"
		run cp "$folder/usr/$file" "/usr/$file"
	done
	rm -rf "$folder"
}

# install MANAGER PACKAGE ... reads nothing from standard input.
install() {
	manager=$1
	shift
	case $manager in
	apt-get) apt_install "$@" ;;
	dnf | yum) run "$manager" install -y "$@" ;;
	zypper) run zypper --non-interactive install "$@" ;;
	apk) run apk add "$@" ;;
	pacman) run pacman -Sy --noconfirm --needed "$@" ;;
	brew) run brew install "$@" ;;
	esac
}

only_say=
if [ "${1:-}" = -n ]; then
	only_say=1
	shift
fi
missing=
for thing in "$@"; do
	case $thing in
	postgresql | compiler | clock | make | npm | promtool | chromium | pg_cron | pgagent | pgq | psycopg) "has_$thing" || missing="$missing${missing:+ }$thing" ;;
	*) die "usage: install.sh [-n] postgresql|compiler|clock|make|npm|promtool|chromium|pg_cron|pgagent|pgq|psycopg ..." ;;
	esac
done
[ -n "$missing" ] || exit 0

manager=$(find_manager)
wanted=
for thing in $missing; do
	more=$(packages "$manager" "$thing")
	wanted="$wanted${wanted:+${more:+ }}$more"
done
[ -z "$only_say" ] || die "missing: $missing; install by $manager: $wanted"
sudo=
if [ "$(id -u)" -ne 0 ] && [ "$manager" != brew ]; then
	command -v sudo >/dev/null || die "missing: $missing; as root, install by $manager: $wanted"
	sudo=sudo
fi
say "missing: $missing; installing by ${sudo:+sudo }$manager: ${wanted:-what is in its package}"
# shellcheck disable=SC2086 # one word a package
[ -z "$wanted" ] || install "$manager" $wanted </dev/null
case "$manager $missing" in
'apt-get '*promtool*) apt_promtool </dev/null ;;
esac
case "$manager $missing" in
'apt-get '*pgagent*) apt_extension pgagent </dev/null ;;
esac
case "$manager $missing" in
'apt-get '*pgq*) apt_extension $(ls -d /usr/lib/postgresql/*/bin | sed 's|.*/\([0-9]*\)/bin|postgresql-\1-pgq3|') </dev/null ;;
esac
for thing in $missing; do
	"has_$thing" || die "$thing is still missing after installing $wanted"
done
