#!/bin/sh
# Makes .venv ready: memsheet from this checkout (editable) with the named extras, and the system libraries that they
# need. Quick when nothing has changed since the last time.
# usage: [PYTHON=python3.12] sh tools/setup.sh [EXTRA]...
set -eu
cd "$(dirname "$0")/.."

say() { echo "memsheet: $*" >&2; }
die() { say "$@"; exit 1; }

# Runs it, because a version manager leaves a command on the path for versions that are not switched on.
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }
can_make_venv() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || die "PYTHON=$PYTHON does not run, or is older than 3.11"
        echo "$PYTHON"
        return
    fi
    for candidate in python3.13 python3.12 python3.11 python3; do
        if new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    die "no Python 3.11 or newer found; please install one (Debian 12, Ubuntu 24.04 or newer: apt-get install python3" \
        "python3-venv), or name it: make PYTHON=/path/to/python3"
}

make_venv() {
    python=$(find_python)
    if ! can_make_venv "$python"; then
        # Debian keeps ensurepip in a package of its own, one for each version.
        sh tools/apt.sh "python$(version "$python")-venv" || true
        can_make_venv "$python" || die "$python cannot make a virtual environment without that package"
    fi
    say "making .venv with $python ($(version "$python"))"
    rm -rf .venv
    "$python" -m venv .venv
}

venv=.venv/bin/python
# A .venv whose Python was removed, or is another than asked for, is made anew.
if ! new_enough $venv || ! $venv -m pip --version >/dev/null 2>&1; then
    make_venv
elif [ -n "${PYTHON:-}" ]; then
    python=$(find_python)
    [ "$(version "$python")" = "$(version $venv)" ] || make_venv
fi

# What an installed extra depends on. The folder is part of it, because scripts in .venv name their interpreter by its
# full path and break when the checkout is moved.
key=$({ cat pyproject.toml tools/setup.sh && pwd; } | cksum)
wanted=
for extra in "$@"; do
    [ "$(cat ".venv/memsheet-$extra" 2>/dev/null)" = "$key" ] || wanted="$wanted,$extra"
done
wanted=${wanted#,}
if [ -n "$wanted" ]; then
    say "installing memsheet[$wanted] into .venv (a minute or two the first time)"
    $venv -m pip install --quiet --disable-pip-version-check --editable ".[$wanted]"
    for extra in "$@"; do
        echo "$key" >".venv/memsheet-$extra"
    done
fi

case " $* " in
    *" report "* | *" test "*)
        # WeasyPrint's libraries, and fonts for Latin and Chinese text. All but the PDF works without them, so go on.
        sh tools/apt.sh libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core fonts-wqy-microhei ||
            say "going on without them; only the PDF report needs them"
        ;;
esac
