#!/usr/bin/env bash
# Runs the socket and SDK tests on the newer build of uWebSockets.js: Node 24 in a Debian 13 root, since that build needs a
# newer C library than many systems have. Does nothing, and says so, where such a root can't be made.
set -euo pipefail
cd "$(dirname "$0")/.."

node_version=24.21.0
root=${SWITCHYARD_TRIXIE_ROOT:-$(mktemp -d)/root}

skip() {
  echo "newer Node: not run here ($1)"
  exit 0
}

[ "$(uname -s)" = Linux ] || skip 'not Linux'
[ "$(id -u)" = 0 ] || skip 'needs root'
if ! command -v debootstrap >/dev/null; then
  command -v apt-get >/dev/null || skip 'no debootstrap'
  { apt-get update -qq && apt-get install -y -qq debootstrap; } >/dev/null 2>&1 || skip 'debootstrap can not be installed'
fi

cleanup() {
  umount "$root/proc" 2>/dev/null || true
  [ -n "${SWITCHYARD_TRIXIE_ROOT:-}" ] || rm -rf "$(dirname "$root")"
}
trap cleanup EXIT

if [ ! -x "$root/bin/bash" ]; then
  mirror=$(sed -nE 's#^(deb |URIs: )(\[[^]]*\] )?(https?://[^ ]+/debian/?)( .*)?$#\3#p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 || true)
  debootstrap --variant=minbase trixie "$root" ${mirror:+"$mirror"} >/dev/null 2>&1 || skip 'debootstrap failed'
fi

tree="$root/switchyard"
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z | xargs -0 tar -cf - | tar -xf - -C "$tree"

# The root has no package manager of Node's: the packages are installed from here, for the Node that will run them.
(
  cd "$tree"
  npm install --prefix "$root/node" --no-save --no-audit --no-fund --silent "node@$node_version" >/dev/null
  node="$root/node/node_modules/node/bin/node"
  [ -x "$node" ] || node="$root/node/node_modules/.bin/node"
  cp -L "$node" "$root/usr/local/bin/node"
  rm -f package-lock.json
  npm install --no-audit --no-fund --silent --force --os=linux --cpu="$(node -p process.arch)" >/dev/null
  arch=$(node -p process.arch)
  npm install --no-save --no-audit --no-fund --silent --force "@uwsjs/linux-$arch-24@20.69.0" openai@7.55.0 >/dev/null
)
mount -t proc proc "$root/proc" 2>/dev/null || true

echo "newer Node: $(chroot "$root" /usr/local/bin/node --version), glibc $(chroot "$root" ldd --version | head -n 1 | grep -oE '[0-9.]+$')"
inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp CI=true /bin/bash -c "cd /switchyard && $1"
}
inside 'node -e "require(\"uWebSockets.js\").App()" && echo "newer Node: the newer build loads"'
inside 'node node_modules/ava/entrypoints/cli.mjs "test/engine/http/**/*.test.ts" "test/sdk/**/*.test.ts" test/matrix.test.ts test/engine/relay.test.ts'
