#!/usr/bin/env bash
# Runs the socket and SDK tests on the newer build of uWebSockets.js: Node 24 in a Debian 13 root, since that build needs a
# newer C library than many systems have. Does nothing, and says so, where such a root can't be made.
#
#   test/packages/newer-node.sh               all of it, in a root of its own
#   test/packages/newer-node.sh prepare DIR   makes the root, with that Node in it
#   test/packages/newer-node.sh run DIR       runs the tests in it; nothing where it wasn't made
set -euo pipefail
cd "$(dirname "$0")/../.."

node_version=24.21.0
# What the start of a process, a socket and a client of its own depend on.
tests='"test/engine/http/**/*.test.ts" "test/sdk/**/*.test.ts" test/engine/launch/bundle.test.ts "test/engine/config/custom/*.test.ts" test/engine/requests/pass-through.test.ts'

skip() {
  echo "newer Node: not run here ($1)"
  exit 0
}

prepare() {
  local root=$1
  [ "$(uname -s)" = Linux ] || skip 'not Linux'
  [ "$(id -u)" = 0 ] || skip 'needs root'
  if ! command -v debootstrap >/dev/null; then
    command -v apt-get >/dev/null || skip 'no debootstrap'
    { apt-get update -qq && apt-get -o DPkg::Lock::Timeout=240 install -y -qq debootstrap; } >/dev/null 2>&1 ||
      skip 'debootstrap can not be installed'
  fi
  local mirror
  mirror=$(sed -nE 's#^(deb |URIs: )(\[[^]]*\] )?(https?://[^ ]+/debian/?)( .*)?$#\3#p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 || true)
  debootstrap --variant=minbase trixie "$root" ${mirror:+"$mirror"} >/dev/null 2>&1 || skip 'debootstrap failed'
  npm install --prefix "$root/node" --no-save --no-audit --no-fund --silent "node@$node_version" >/dev/null
  local node="$root/node/node_modules/node/bin/node"
  [ -x "$node" ] || node="$root/node/node_modules/.bin/node"
  cp -L "$node" "$root/usr/local/bin/node"
  touch "$root/prepared"
}

run() {
  local root=$1
  [ -e "$root/prepared" ] || exit 0
  local tree="$root/junctor"
  rm -rf "$tree"
  mkdir -p "$tree"
  git ls-files -z | xargs -0 tar -cf - | tar -xf - -C "$tree"
  # The root has no npm: the packages installed here are copied, and those that its Node.js needs are added.
  cp -r node_modules "$tree"
  (
    cd "$tree"
    rm -rf package-lock.json node_modules/.cache
    local arch
    arch=$(node -p process.arch)
    npm install --no-save --no-audit --no-fund --silent --force --ignore-scripts --os=linux --cpu="$arch" "@uwsjs/linux-$arch-24@20.69.0" openai@7.55.0 >/dev/null
  )
  mount -t proc proc "$root/proc" 2>/dev/null || true
  echo "newer Node: $(chroot "$root" /usr/local/bin/node --version), glibc $(chroot "$root" ldd --version | head -n 1 | grep -oE '[0-9.]+$')"
  inside "$root" 'node -e "require(\"uWebSockets.js\").App()" && echo "newer Node: the newer build loads"'
  inside "$root" "node node_modules/ava/entrypoints/cli.mjs $tests"
}

inside() {
  chroot "$1" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp CI=true /bin/bash -c "cd /junctor && $2"
}

release() {
  umount "$1/proc" 2>/dev/null || true
}

case "${1:-}" in
  prepare) prepare "$2" ;;
  run)
    trap 'release "$2"' EXIT
    run "$2"
    ;;
  *)
    own=$(mktemp -d)
    trap 'release "$own/root"; rm -rf "$own"' EXIT
    (prepare "$own/root")
    run "$own/root"
    ;;
esac
