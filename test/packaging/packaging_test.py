#!/usr/bin/env python3
# Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""WaveSan as others get it: installed and moved, as a Debian package, under their build systems, with another LLVM.

    packaging_test.py --build DIR --source DIR --work DIR STEP

Every step states what it did in one line; the first thing that is not as it should be ends it with the whole output of the
command that was run. Exit status 77: what the step needs is not installed (CTest counts it as skipped).
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

RACE = 66
SKIP = 77


class Tree:
    """A WaveSan below a prefix."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.wavesan = os.path.join(prefix, "bin", "wavesan")
        self.cxx = os.path.join(prefix, "bin", "wavesan-c++")


def fail(text):
    sys.exit(f"FAILED: {text}")


def skip(why):
    """Where everything must be installed (.ci/run), nothing is skipped."""
    if os.environ.get("WAVESAN_NO_SKIPS"):
        fail(why)
    print(f"SKIPPED: {why}")
    sys.exit(SKIP)


def expect(condition, text):
    if not condition:
        fail(text)


def run(command, status=0, env=None, cwd=None):
    """stdout and stderr of `command`, which must end with `status`."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("WAVESAN_", "HIP", "ROCM", "CMAKE_")) and k not in ("HSA_TOOLS_LIB", "LD_PRELOAD", "MAKEFLAGS")}
    done = subprocess.run(command, env={**clean, **(env or {})}, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != status:
        fail(f"exit status {done.returncode} instead of {status}: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def write(path, text, executable=False):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    if executable:
        os.chmod(path, 0o755)


def use(tree, transpose, work, builds=("racy", "fixed")):
    """Doctor, cc, run and check of a tree, on the transpose example with and without its race."""
    run([tree.wavesan, "doctor"])
    for name, definitions, status, line in (
        ("racy", [], RACE, "1 races"),
        ("fixed", ["-DFIXED"], 0, "0 races"),
    ):
        if name not in builds:
            continue
        program = os.path.join(work, name)
        run([tree.wavesan, "cc", "--offload-arch=gfx90a", "-O2", *definitions, transpose, "-o", program])
        output = run([tree.wavesan, "run", "--device=cpu", "--", program], status)
        expect(re.search(rf"checked [1-9]\d* accesses in 1 kernels: {line}", output), output)
    output = run([tree.wavesan, "check", os.path.join(work, builds[0])])
    expect("1 objects, 2 kernels" in output, output)


def no_build_paths(prefix, build):
    """Nothing that is loaded may be looked for in the build tree."""
    seen = 0
    for directory, _, names in os.walk(prefix):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as f:
                head = f.read(18)
            if head[:4] != b"\x7fELF" or head[16] not in (2, 3):
                continue
            seen += 1
            dynamic = run(["readelf", "-d", path])
            expect(build not in dynamic, f"{path} refers to the build tree:\n{dynamic}")
    expect(seen >= 5, f"only {seen} programs and libraries below {prefix}")


class Steps:
    def __init__(self, arguments):
        self.build, self.source, self.work = (os.path.abspath(p) for p in (arguments.build, arguments.source, arguments.work))
        self.cxx = arguments.cxx
        self.llvm_major = arguments.llvm_major
        self.moved = Tree(os.path.join(self.work, "moved"))
        self.transpose = os.path.join(self.source, "examples", "transpose", "transpose.hip")

    def install(self):
        """Installs, moves the tree, removes the old place, uses it."""
        fresh(self.work)
        staged = os.path.join(self.work, "staged")
        run(["cmake", "--install", self.build, "--prefix", staged])
        os.rename(staged, self.moved.prefix)
        no_build_paths(self.moved.prefix, self.build)
        expect(os.readlink(self.moved.cxx) == "wavesan", "wavesan-c++ is no link to wavesan")
        use(self.moved, self.transpose, fresh(os.path.join(self.work, "use")))
        print("installed, moved, used")

    def deb(self):
        """The Debian package: its contents, what it depends on, and its use from another root."""
        work = fresh(os.path.join(self.work, "deb"))
        run(["cpack", "-G", "DEB", "--config", os.path.join(self.build, "CPackConfig.cmake"), "-B", work], cwd=work)
        packages = [f for f in os.listdir(work) if f.endswith(".deb")]
        expect(len(packages) == 1, f"packages: {packages}")
        package = os.path.join(work, packages[0])
        contents = run(["dpkg-deb", "-c", package])
        for path in (
            "/usr/bin/wavesan",
            "/usr/bin/wavesan-c++ -> wavesan",
            "/usr/lib/wavesan/libwavesan-pass.so",
            "/usr/lib/wavesan/libwavesan-hsa.so",
            "/usr/lib/wavesan/libwavesan-hip.so",
            "/usr/lib/wavesan/libwavesan-graph.so",
            "/usr/lib/wavesan/cpu-agent/libhsa-runtime64.so.1",
            "/usr/lib/wavesan/wavesan-check",
            "/usr/lib/wavesan/wavesan-replay",
            "/usr/lib/wavesan/wavesan-symbolize",
            "/usr/lib/wavesan/include/wavesan_hip_compat.h",
            "/usr/lib/cmake/WaveSan/WaveSanConfig.cmake",
            "/usr/share/doc/wavesan/copyright",
            "/usr/share/doc/wavesan/examples/reduction/CMakeLists.txt",
        ):
            expect(f".{path}\n" in contents, f"{path} is not in the package:\n{contents}")
        for line in contents.splitlines():
            expect(" root/root " in line, f"not root's: {line}")
            expect(re.search(r" \./(usr/)?((bin|lib|include|share)/.*|(bin|lib|include|share)/)?( ->.*)?$", line), f"outside /usr: {line}")
        depends = run(["dpkg-deb", "-f", package, "Depends"])
        for part in (f"clang-{self.llvm_major} (>=", f"clang-{self.llvm_major} (<<", f"clang-tools-{self.llvm_major}", f"lld-{self.llvm_major}", f"libllvm{self.llvm_major}", "libc6", "libstdc++6"):
            expect(part in depends, f"{part} is not in Depends: {depends}")
        root = os.path.join(work, "root")
        run(["dpkg", "-x", package, root])
        use(Tree(os.path.join(root, "usr")), self.transpose, fresh(os.path.join(work, "use")), ("racy",))
        print(f"{packages[0]}: built, read, extracted, used")

    def example(self):
        """examples/reduction with the moved tree: another compiler than WaveSan's for the rest of the project."""
        build = fresh(os.path.join(self.work, "example"))
        source = os.path.join(self.moved.prefix, "share", "doc", "wavesan", "examples", "reduction")
        run(["cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.moved.prefix}", "-DCMAKE_CXX_COMPILER=g++"])
        commands = run(["cmake", "--build", build, "--verbose"])
        expect(re.search(r"wavesan cc --gpu=gfx90a \S*g\+\+ .*report\.cpp", commands), commands)
        run(["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error"])
        output = run([self.moved.wavesan, "run", "--device=cpu", "--", os.path.join(build, "reduction-racy")], RACE)
        expect("`partial`" in output, output)
        output = run([self.moved.wavesan, "run", "--device=cpu", "--", os.path.join(build, "reduction")])
        expect(re.search(r"the sum is (\d+), expected \1\n", output) and ": 0 races" in output, output)
        symbols = run(["nm", "-C", os.path.join(build, "CMakeFiles", "reduction.dir", "report.cpp.o")])
        expect("hip" not in symbols, symbols)
        self.expect_config_errors()
        print("example built with find_package, both programs judged")

    def expect_config_errors(self):
        """Wrong uses of wavesan_instrument are named."""
        for call, message in (
            ("wavesan_instrument(nothing)", "there is no such target"),
            ("wavesan_instrument(app GPUS gfx90a)", "unknown arguments: GPUS;gfx90a"),
            ("wavesan_instrument(headers)", "the target compiles nothing"),
        ):
            project = fresh(os.path.join(self.work, "wrong"))
            write(os.path.join(project, "main.cpp"), "int main() {}\n")
            write(
                os.path.join(project, "CMakeLists.txt"),
                "cmake_minimum_required(VERSION 3.25)\nproject(Wrong LANGUAGES NONE)\nfind_package(WaveSan REQUIRED)\n"
                f"add_custom_target(app)\nadd_library(headers INTERFACE)\n{call}\n",
            )
            output = run(["cmake", "-G", "Ninja", "-S", project, "-B", os.path.join(project, "build"), f"-DCMAKE_PREFIX_PATH={self.moved.prefix}"], 1)
            expect(message in " ".join(output.split()), output)

    def compilers(self):
        """wavesan-c++ as the compiler of CMake with Ninja and with make, of a Makefile and of a build.ninja."""
        example = os.path.join(self.source, "examples", "reduction")
        work = fresh(os.path.join(self.work, "compilers"))

        # Plain sources: the very bytes that the compiler makes without us.
        objects = []
        for compiler in (self.cxx, self.moved.cxx):
            objects.append(os.path.join(work, f"{os.path.basename(compiler)}.o"))
            run([compiler, "-O2", "-std=c++17", "-c", os.path.join(example, "report.cpp"), "-o", objects[-1]])
        with open(objects[0], "rb") as a, open(objects[1], "rb") as b:
            expect(a.read() == b.read(), "plain C++ compiles to other bytes")

        for generator in ("Ninja", "Unix Makefiles"):
            build = fresh(os.path.join(work, generator.split()[0]))
            project = os.path.join(build, "project")
            write(
                os.path.join(project, "CMakeLists.txt"),
                "cmake_minimum_required(VERSION 3.25)\nproject(Plain LANGUAGES CXX)\n"
                f"set(EXAMPLE {example})\nadd_executable(app ${{EXAMPLE}}/reduction.cpp ${{EXAMPLE}}/report.cpp)\n"
                "set_source_files_properties(${EXAMPLE}/reduction.cpp PROPERTIES COMPILE_OPTIONS \"-x;hip;--offload-arch=gfx90a\")\n"
                "target_compile_definitions(app PRIVATE RACY)\ntarget_link_libraries(app PRIVATE amdhip64)\n",
            )
            output = run(["cmake", "-G", generator, "-S", project, "-B", build, f"-DCMAKE_CXX_COMPILER={self.moved.cxx}"])
            expect("The CXX compiler identification is Clang" in output, output)
            output = run(["cmake", "--build", build])
            expect("warning" not in output, output)
            expect("`partial`" in run([self.moved.wavesan, "run", "--device=cpu", os.path.join(build, "app")], RACE), generator)
            expect("Building" not in run(["cmake", "--build", build]), f"{generator} builds twice")

        make = fresh(os.path.join(work, "make"))
        write(os.path.join(make, "Makefile"), f"CXXFLAGS = -O1 -std=c++17\nVPATH = {example}\nreduction.o: CXXFLAGS += -x hip --offload-arch=gfx90a\napp: reduction.o report.o\n\t$(CXX) $^ -o $@ -lamdhip64\n")
        run(["make", "-C", make, f"CXX={self.moved.cxx}"])
        expect(": 0 races" in run([self.moved.wavesan, "run", "--device=cpu", os.path.join(make, "app")]), "make")

        ninja = fresh(os.path.join(work, "ninja"))
        write(
            os.path.join(ninja, "build.ninja"),
            f"cxx = {self.moved.cxx}\nrule cxx\n  command = $cxx -std=c++17 -MD -MF $out.d $flags -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
            "rule link\n  command = $cxx $in -o $out -lamdhip64\n"
            f"build reduction.o: cxx {example}/reduction.cpp\n  flags = -x hip --offload-arch=gfx90a\nbuild report.o: cxx {example}/report.cpp\n"
            "build app: link reduction.o report.o\n",
        )
        run(["ninja", "-C", ninja])
        expect("report.h" in run(["ninja", "-C", ninja, "-t", "deps", "reduction.o"]), "no dependencies of the HIP source")
        expect(": 0 races" in run([self.moved.wavesan, "run", "--device=cpu", os.path.join(ninja, "app")]), "ninja")
        print("CMake with Ninja and make, a Makefile, a build.ninja")

    def hip_language(self):
        """CMake's language HIP with wavesan-c++ as CMAKE_HIP_COMPILER."""
        work = fresh(os.path.join(self.work, "hip-language"))
        project = os.path.join(self.source, "test", "packaging", "hip-language")
        root = os.path.join(work, "rocm")
        os.makedirs(os.path.join(root, "lib", "cmake", "hip-lang"))
        shutil.copy(os.path.join(project, "hip-lang-config.cmake"), os.path.join(root, "lib", "cmake", "hip-lang"))
        runtime = run([self.moved.cxx, "-print-file-name=libamdhip64.so"]).strip()
        expect(os.path.isabs(runtime), f"libamdhip64.so: {runtime}")
        os.symlink(runtime, os.path.join(root, "lib", "libamdhip64.so"))
        build = os.path.join(work, "build")
        output = run([
            "cmake", "-G", "Ninja", "-S", project, "-B", build, f"-DTRANSPOSE={self.transpose}", f"-DCMAKE_CXX_COMPILER={self.moved.cxx}",
            f"-DCMAKE_HIP_COMPILER={self.moved.cxx}", f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={root}", "-DCMAKE_HIP_ARCHITECTURES=gfx90a",
        ])
        expect("The HIP compiler identification is Clang" in output, output)
        output = run(["cmake", "--build", build])
        expect("warning" not in output, output)
        run([self.moved.wavesan, "run", "--device=cpu", os.path.join(build, "mirror")], RACE)
        print("language HIP configured, built, judged")

    def hipcc(self, major, plugin, extra):
        """hipcc takes the plugin directly. Debian's asks for clang++-15 in HIP_CLANG_PATH: a link stands in."""
        hipcc = shutil.which("hipcc")
        libraries = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
        if not hipcc or not os.path.exists(os.path.join(libraries, "hip.bc")):
            skip("hipcc is not installed, or is not Debian's (package hipcc)")
        work = fresh(os.path.join(self.work, f"hipcc-{major}"))
        for name in ("clang++-15", "clang++"):
            os.symlink(shutil.which(f"clang++-{major}"), os.path.join(work, name))
        program = os.path.join(work, "app")
        run([
            hipcc, "--offload-arch=gfx90a", "-O2", "-std=c++17", "-gline-tables-only", "-mcode-object-version=4", *extra, "-Xclang", "-mlink-builtin-bitcode",
            "-Xclang", f"{libraries}/hip.bc", "-Xarch_host", "-Wno-linker-warnings", "-Xarch_device", f"-fpass-plugin={plugin}", "-c", self.transpose, "-o", f"{program}.o",
        ], env={"HIP_CLANG_PATH": work, "HIP_ROCCLR_HOME": work})
        run([f"clang++-{major}", f"{program}.o", "-o", program, "-lamdhip64"])
        run([os.path.join(self.build, "bin", "wavesan"), "run", "--device=cpu", program], RACE)
        print(f"hipcc -fpass-plugin= with clang {major}: race found")

    def hipcc_direct(self):
        self.hipcc(self.llvm_major, os.path.join(self.build, "lib", "wavesan", "libwavesan-pass.so"), ["-D__AMDGCN_WAVEFRONT_SIZE=64"])

    def llvm19(self):
        """The plugin by itself against LLVM 19: build, its lit tests, a program through the driver and through hipcc."""
        directory = os.environ.get("WAVESAN_LLVM19_DIR", "/usr/lib/llvm-19/lib/cmake/llvm")
        if not os.path.isdir(directory) or not shutil.which("clang++-19"):
            skip("LLVM 19 is not installed (Debian: llvm-19-dev clang-19 lld-19 llvm-19-tools)")
        build = os.path.join(self.work + "-llvm19", "build")  # kept: the next run rebuilds what changed
        run(["cmake", "-G", "Ninja", "-S", os.path.join(self.source, "llvm-pass"), "-B", build, f"-DLLVM_DIR={directory}", f"-DCMAKE_CXX_COMPILER={self.cxx}"])
        run(["ninja", "-C", build, "-j2"])
        output = run(["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error"])
        expect("100% tests passed" in output, output)
        plugin = os.path.join(build, "lib", "wavesan", "libwavesan-pass.so")
        self.work += "-llvm19"
        wavesan = os.path.join(self.build, "bin", "wavesan")
        for name, definitions, status in (("racy", [], RACE), ("fixed", ["-DFIXED"], 0)):
            program = os.path.join(self.work, name)
            command = ["--offload-arch=gfx90a", "--offload-arch=gfx1030", "-O2", *definitions, self.transpose, "-o", program]
            shown = run([wavesan, "cc", "--show", *command], env={"WAVESAN_PLUGIN": plugin})
            expect(shown.startswith("clang++-19 ") and f"-fpass-plugin={plugin}" in shown, shown)
            run([wavesan, "cc", *command], env={"WAVESAN_PLUGIN": plugin})
            for gpu in ("gfx90a", "gfx1030"):
                run([wavesan, "run", "--device=cpu", f"--gpu={gpu}", "--", program], status)
        # clang 22 must not load it.
        output = run([wavesan, "cc", "--offload-arch=gfx90a", self.transpose], 2, env={"WAVESAN_PLUGIN": plugin, "WAVESAN_CXX": f"clang++-{self.llvm_major}"})
        expect("but the plugin was built for LLVM 19.1" in output, output)
        print("LLVM 19: plugin built, lit passed, programs judged")
        self.hipcc(19, plugin, [])


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "source", "work", "cxx", "llvm-major"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("step")
    arguments = parser.parse_args()
    os.makedirs(os.path.dirname(os.path.abspath(arguments.work)), exist_ok=True)
    getattr(Steps(arguments), arguments.step)()


if __name__ == "__main__":
    main()
