# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the scripts: installs what a bare Debian 12 lacks, configures and builds. Source it; every function may be
# called again at no cost. On failure one line on stderr says which step failed and where its output is.
set -Eeuo pipefail

wavesan_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
wavesan_build=$wavesan_root/build
wavesan_llvm=22
wavesan_logs=

# Debian packages, by what they are for. LLVM 22 comes from the bookworm-security suite.
wavesan_packages=(
  clang-$wavesan_llvm clang-tools-$wavesan_llvm lld-$wavesan_llvm libclang-rt-$wavesan_llvm-dev  # compiles WaveSan and, with the plugin, HIP programs
  llvm-$wavesan_llvm-dev llvm-$wavesan_llvm-tools                       # the plugin and the engine; FileCheck and lit
  libamdhip64-dev libhsa-runtime-dev rocm-device-libs                   # AMD's HIP runtime, HSA headers, device libraries
  rocminfo                                                              # an HSA program for the tests
  llvm-19-dev llvm-19-tools clang-19 clang-tools-19 lld-19 hipcc        # tests: the plugin for another LLVM, and under hipcc
  make dpkg-dev file                                                    # tests: build systems, the Debian package
  cmake ninja-build ccache g++ python3 python3-jsonschema               # build; validating reports
  libcli11-dev nlohmann-json3-dev libxxhash-dev zlib1g-dev libgtest-dev libbenchmark-dev  # libraries
)

say() { printf '== %s\n' "$*"; }

die() {
  trap - ERR
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

trap 'die "line $LINENO: \"$BASH_COMMAND\" failed with status $?"' ERR

# logged NAME COMMAND...: runs a step; its output goes to a log file, and onto the screen only when the step fails.
logged() {
  local name=$1 status=0
  shift
  if [[ -z $wavesan_logs ]]; then
    wavesan_logs=$wavesan_build/logs
    mkdir -p "$wavesan_logs"
  fi
  local log=$wavesan_logs/$name.log
  "$@" >"$log" 2>&1 || status=$?
  if ((status != 0)); then
    tail -n 40 "$log" >&2
    die "$name failed with status $status; all of its output: $log"
  fi
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

missing_packages() {
  local package
  for package in "${wavesan_packages[@]}"; do
    [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>&1) == "ii "* ]] || printf '%s\n' "$package"
  done
}

install_packages() {
  [[ -x $(command -v apt-get) ]] || die "this script installs Debian packages and finds no apt-get; see README.md for what to install"
  local missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    say "all needed Debian packages are installed"
    return
  fi
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    die "not root and no sudo; install these packages first: ${missing[*]}"
  fi
  say "installing Debian packages: ${missing[*]}"
  logged apt-update as_root apt-get update
  local package
  for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 ||
      die "no Debian package $package; WaveSan needs Debian 12 with the bookworm-security suite in /etc/apt/sources.list"
  done
  logged apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

configure() {
  say "configuring in ${wavesan_build#"$PWD"/}"
  # cmake refuses a build tree that another path or generator made; say it plainly.
  cd "$wavesan_root"
  logged configure cmake --preset release "$@"
}

build() {
  say "building (output: ${wavesan_build#"$PWD"/}/logs/build.log)"
  logged build cmake --build "$wavesan_build" -- -j "${WAVESAN_JOBS:-$(nproc)}"
}
