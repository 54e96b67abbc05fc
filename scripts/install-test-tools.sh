#!/usr/bin/env bash
# Installs what the tests need beyond Node, from Debian's packages and PyPI; quick where all is there.
set -euo pipefail

# One line each: a command that tells whether the tool is there, and the package that brings it.
tools=(
  'java_is_new_enough|openjdk-17-jre-headless'
  'command -v mvn|maven'
  'command -v pgbouncer|pgbouncer'
  'command -v promtool && command -v prometheus|prometheus'
  'python3 -c "import ensurepip, venv"|python3-venv'
  'command -v chromium|chromium'
)

# Debian keeps servers in sbin, which an ordinary user's PATH may lack.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# Kafka 4's brokers need Java 17.
java_is_new_enough() {
  local version
  version="$(java -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1)"
  [ -n "$version" ] && [ "$version" -ge 17 ]
}

# From PyPI, each in a folder of its own and by its version, so that a new one changes no run:
# the API's fuzzer, and what knows Kubernetes' schemas.
python_tools=('schemathesis==4.32.5' 'kubernetes-validate==1.37.0')

install_python_tools() {
  local tool name home
  for tool in "${python_tools[@]}"; do
    name="${tool%%==*}"
    home="$(dirname "$0")/../.cache/$name"
    "$home/bin/$name" --version >/dev/null 2>&1 && continue
    echo "Installing $tool …"
    if ! { python3 -m venv "$home" && "$home/bin/pip" install --quiet "$tool"; }; then
      rm -rf "$home"
      echo "Without python3 with venv, or PyPI, the tests that need $name are left out." >&2
    fi
  done
}

missing=()
for tool in "${tools[@]}"; do
  eval "${tool%%|*}" >/dev/null 2>&1 || missing+=("${tool#*|}")
done

if [ "${#missing[@]}" -eq 0 ]; then
  install_python_tools
  echo 'All test tools are installed.'
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "Please install by your system's means what Debian calls: ${missing[*]}" >&2
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "The tests need: ${missing[*]}" >&2
  echo "Please run: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi

echo "Installing ${missing[*]} …"
export DEBIAN_FRONTEND=noninteractive
# The tests start their own servers: RUNLEVEL=1 keeps Debian from starting its own at once.
export RUNLEVEL=1
apt-get update -q
apt-get install -q -y --no-install-recommends "${missing[@]}"
install_python_tools
