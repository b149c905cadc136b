#!/usr/bin/env bash
# Does what the README tells a newcomer to do: the commands of its first two blocks in a fresh clone, with each HTTP server; then
# packs the package, installs it elsewhere and uses it. The lock file is installed by each npm that is supported, for another
# platform too.
#
#   test/packages/newcomer.sh           with the Node.js at hand
#   test/packages/newcomer.sh own 22    with that one, and with the newest of version 22 from the npm registry
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
service=
installed=
clean_up() {
  [ -z "$service" ] || kill -KILL -- "-$service" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

# Prints the README's block of this language with this number, counted from 1.
block() {
  awk -v opening="\`\`\`$1" -v wanted="$2" '$0 == opening { found += 1; inside = 1; next } /^```$/ { inside = 0 } inside && found == wanted' README.md
}

newcomer() {
  local name="$1" tree="$work/tree-$1" home="$work/home-$1" out="$work/out-$1" http address
  git clone -q . "$tree"
  cd "$tree"
  # The packages that the previous version installed are moved here: npm only checks them, far faster than it unpacks them.
  [ -z "$installed" ] || mv "$installed" node_modules
  rm -rf node_modules/.cache
  npm install --no-audit --no-fund --silent
  installed="$tree/node_modules"
  for http in '' node; do
    rm -rf "$home"
    mkdir "$home"
    # What the service before printed must not be taken for this one's, which may open the file later.
    : >"$out"
    set -m
    env -u CI HOME="$home" JUNCTOR_HTTP="$http" JUNCTOR_PORT=0 npm start --silent >"$out" 2>&1 &
    service=$!
    set +m
    # The first start builds the interface and the service.
    for _ in $(seq 1200); do
      ! grep -q 'Try it:' "$out" && kill -0 "$service" 2>/dev/null || break
      sleep 0.1
    done
    address=$(sed -nE 's/^Junctor listens on //p' "$out")
    # What the README says is printed: with this folder and address, and with the reason for this HTTP server.
    block text 1 | sed "s#http://127.0.0.1:3456#$address#; s#~#$home#; s#HTTP server .*#HTTP server #" | while IFS= read -r line; do
      grep -qF -- "$line" "$out" || { echo "newcomer: not printed: $line"; cat "$out"; exit 1; }
    done
    block sh 2 | sed "s#http://127.0.0.1:3456#$address#" | bash >"$work/answer" 2>/dev/null
    grep -q '"type":"message_stop"' "$work/answer" || { cat "$out" "$work/answer"; exit 1; }
    kill -TERM "$service"
    # npm ends with the signal's code, and may do so before the service has ended.
    wait "$service" || true
    for _ in $(seq 1200); do
      kill -0 -- "-$service" 2>/dev/null || break
      sleep 0.1
    done
    ! kill -0 -- "-$service" 2>/dev/null || { echo 'newcomer: the service runs on after SIGTERM'; exit 1; }
    service=
    echo "newcomer: Node.js $(node --version),$(grep -a 'HTTP server' "$out" | tr -s ' '): the first request is answered"
  done
  npm_config_prefix="$work/prefix" npm link --silent >/dev/null
  (cd "$home" && "$work/prefix/bin/junctor" --version >/dev/null) || { echo 'newcomer: npm link makes no command'; exit 1; }
  # With the Node.js at hand, the suite has done that.
  [ "$name" = own ] || npx ava test/packages/installed-package.test.ts
  cd - >/dev/null
}

# Installs the lock file by the newest npm of a major version: for a Mac, of whose packages none is run, then for this machine.
install_by_npm() {
  local npm="$work/npm-$1" tree="$work/tree-npm-$1" quiet=(--no-audit --no-fund --silent --prefer-offline)
  npm install --prefix "$npm" --no-save "${quiet[@]}" "npm@$1" >/dev/null
  git clone -q . "$tree"
  cd "$tree"
  PATH="$npm/node_modules/.bin:$PATH"
  npm ci "${quiet[@]}" --dry-run >/dev/null
  npm ci "${quiet[@]}" --omit=dev --ignore-scripts --os=darwin --cpu=arm64
  [ -e node_modules/@esbuild/darwin-arm64 ] || { echo "newcomer: npm $1 leaves out the build for a Mac"; exit 1; }
  [ "$(ls node_modules/@esbuild)" = darwin-arm64 ] || { echo "newcomer: npm $1 installs other builds"; exit 1; }
  npm ci "${quiet[@]}" --omit=dev
  npx --offline junctor --version >/dev/null || { echo "newcomer: npx of npm $1 finds no junctor"; exit 1; }
  echo "newcomer: npm $(npm --version) installs the lock file, here and for a Mac"
  cd - >/dev/null
}

for npm in 10 11; do
  path=$PATH
  install_by_npm "$npm"
  PATH=$path
done

[ "$#" -gt 0 ] || set -- own
for version in "$@"; do
  path=$PATH
  if [ "$version" != own ]; then
    npm install --prefix "$work/node-$version" --no-save --no-audit --no-fund --silent "node@$version" >/dev/null
    PATH="$work/node-$version/node_modules/node/bin:$PATH"
  fi
  newcomer "$version"
  PATH=$path
done
