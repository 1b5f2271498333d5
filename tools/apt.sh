#!/bin/sh
# Installs those of the named Debian or Ubuntu packages that are missing. Where that is not possible, says once what to
# type and returns 1, so that the caller decides whether it can go on.
# usage: sh tools/apt.sh PACKAGE...
set -u

missing=
for package in "$@"; do
    # Not `dpkg -s`, which also succeeds for a package that was removed and left its configuration.
    case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) missing="$missing $package" ;;
    esac
done
missing=${missing# }
[ -n "$missing" ] || exit 0

as_root=
if ! command -v apt-get >/dev/null 2>&1; then
    echo "memsheet: this system has no apt; please install what these Debian packages hold: $missing" >&2
    exit 1
elif [ "$(id -u)" -ne 0 ]; then
    # Never ask for a password: make must also run where nobody is there to type it.
    if sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        echo "memsheet: system packages are missing; please run:" >&2
        echo "    sudo apt-get install --no-install-recommends $missing" >&2
        exit 1
    fi
fi

apt() {
    # A fresh cloud machine often holds apt's lock for its own updates. `env`, because sudo drops the environment.
    # shellcheck disable=SC2086 # as_root is empty or two words
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" \
        </dev/null >/dev/null
}

echo "memsheet: installing system packages: $missing" >&2
# The lists may be missing or old; where they cannot be fetched, they may still do.
apt update || true
# shellcheck disable=SC2086 # a list of names
if ! apt install -y --no-install-recommends $missing; then
    echo "memsheet: apt could not install these; please run, and read what it says:" >&2
    echo "    apt-get update && apt-get install --no-install-recommends $missing" >&2
    exit 1
fi
