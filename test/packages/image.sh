#!/usr/bin/env bash
# Builds the image by its Dockerfile, with buildah, and runs it as a pod would: its user, no capabilities, a read-only root, its
# health check, SIGTERM. Does nothing, and says so, where that can't be done.
#
#   test/packages/image.sh              with the real base image
#   test/packages/image.sh own [ROOT]   with a base made here: a Debian 13 (ROOT, or made by debootstrap) and Node.js 22 from npm
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
  echo "image: not built here ($1)"
  exit 0
}
[ "$(id -u)" = 0 ] || skip 'needs root'
for program in buildah setpriv unshare; do command -v "$program" >/dev/null || skip "no $program"; done
unshare --mount --pid --fork true 2>/dev/null || skip 'no namespaces'

work=$(mktemp -d)
engine=(buildah --storage-driver vfs --root "$work/store" --runroot "$work/run")
service=
clean_up() {
  [ -z "$service" ] || kill -KILL "$service" 2>/dev/null || true
  wait 2>/dev/null || true
  "${engine[@]}" rm --all >/dev/null 2>&1 || true
  umount -R "$work/store/vfs/dir"/* 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

# What stands for the base image: the same distribution, the newest Node.js 22, its npm, and this machine's certificates.
own_base() {
  local root=${1:-} node="$work/node" made
  if [ -z "$root" ]; then
    root="$work/root"
    (test/packages/newer-node.sh prepare "$root")
  fi
  [ -e "$root/etc/debian_version" ] || skip 'no root of Debian 13'
  npm install --prefix "$node" --no-save --no-audit --no-fund --silent node@22 npm@10 >/dev/null
  made=$("${engine[@]}" from scratch)
  for part in etc usr var; do "${engine[@]}" copy -q "$made" "$root/$part" "/$part" >/dev/null; done
  "${engine[@]}" copy -q "$made" "$node/node_modules/node/bin/node" /usr/local/bin/node >/dev/null
  "${engine[@]}" copy -q "$made" "$node/node_modules/npm" /usr/local/lib/npm >/dev/null
  "${engine[@]}" copy -q "$made" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt >/dev/null
  local at
  at=$("${engine[@]}" mount "$made")
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$at/$name"; done
  ln -s ../lib/npm/bin/npm-cli.js "$at/usr/local/bin/npm"
  mkdir -p "$at/tmp" "$at/proc" "$at/sys" "$at/dev" "$at/run" "$at/root"
  chmod 1777 "$at/tmp"
  "${engine[@]}" umount "$made" >/dev/null
  "${engine[@]}" config --env PATH=/usr/local/bin:/usr/bin:/bin --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$made"
  "${engine[@]}" commit -q "$made" localhost/base >/dev/null
  "${engine[@]}" rm "$made" >/dev/null
}

arguments=()
if [ "${1:-}" = own ]; then
  own_base "${2:-}"
  arguments=(--build-arg BASE=localhost/base --pull-never)
fi
"${engine[@]}" build -q --isolation chroot --format docker "${arguments[@]}" -t localhost/junctor . >"$work/built" 2>&1 || {
  cat "$work/built"
  exit 1
}

# What the image says of itself.
"${engine[@]}" inspect --type image localhost/junctor >"$work/image.json"
said() { node -p "const { config } = JSON.parse(require('node:fs').readFileSync('$work/image.json', 'utf8')).Docker; $1"; }
user=$(said 'config.User')
[[ "$user" =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || { echo "image: its user is $user"; exit 1; }
[ "$(said 'config.StopSignal')" = SIGTERM ] || { echo 'image: its stop signal is not SIGTERM'; exit 1; }
mapfile -t variables < <(said 'config.Env.join("\n")')
mapfile -t command < <(said '[...config.Entrypoint, ...config.Cmd].join("\n")')
mapfile -t health < <(said 'config.Healthcheck.Test.slice(1).join("\n")')

made=$("${engine[@]}" from --pull-never localhost/junctor)
root=$("${engine[@]}" mount "$made")
confined=(setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs)
# The last word of its arguments is the image's own program, as process 1.
inside='set -e
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o size=256m,mode=0700,uid=1000,gid=1000 data "$root/data"
mount -t tmpfs -o size=64m,mode=1777 tmp "$root/tmp"
mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"'
port=$(node -p 'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); }); ""' | grep .)
environment=(env -i -C /app "${variables[@]}" "JUNCTOR_PORT=$port" JUNCTOR_APIKEY=a-key)
unshare --mount --pid --fork --kill-child sh -c "$inside" sh "$root" "${confined[@]}" "${environment[@]}" "${command[@]}" >"$work/out" 2>&1 &
service=$!

# The container's process 1, as this machine counts.
first=
for _ in $(seq 600); do
  kill -0 "$service" 2>/dev/null || { cat "$work/out"; exit 1; }
  first=$(cat "/proc/$service/task/$service/children" 2>/dev/null | tr -d ' ')
  [ -z "$first" ] || ! grep -q 'listens on' "$work/out" || break
  sleep 0.1
done
within() { nsenter --target "$first" --mount --pid chroot "/proc/$first/root" "${confined[@]}" "${environment[@]}" "$@"; }
within "${health[@]}" || { cat "$work/out"; echo 'image: it is not healthy'; exit 1; }
# Root itself can't.
! nsenter --target "$first" --mount chroot "/proc/$first/root" /bin/sh -c 'echo >/app/x' 2>/dev/null || { echo 'image: its root can be written to'; exit 1; }
grep -qE '^CapBnd:\s0+$' "/proc/$first/status" || { echo 'image: it has capabilities'; exit 1; }
[ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/ui")" = 200 ] || { echo 'image: no web interface'; exit 1; }
kill -TERM "$first"
wait "$service" || { cat "$work/out"; echo 'image: it does not end well after SIGTERM'; exit 1; }
service=
echo "image: built ($(du -sm "$root" | cut -f 1) MB with its base), runs as $user with a read-only root, is healthy, and stops"
