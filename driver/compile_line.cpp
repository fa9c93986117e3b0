// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a clang++/hipcc command line.
#include "compile_line.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

namespace wavesan::driver {

namespace {

/// Options whose value is the next word when they are written alone. An option missing here would make its value look
/// like an input file; the list follows clang's option table for the GNU-style driver.
constexpr std::string_view kTakesValue[] = {"-o",
                                            "-x",
                                            "-I",
                                            "-D",
                                            "-U",
                                            "-L",
                                            "-l",
                                            "-F",
                                            "-B",
                                            "-T",
                                            "-u",
                                            "-z",
                                            "-e",
                                            "-A",
                                            "-G",
                                            "-include",
                                            "-imacros",
                                            "-isystem",
                                            "-iquote",
                                            "-idirafter",
                                            "-iprefix",
                                            "-iwithprefix",
                                            "-iwithprefixbefore",
                                            "-isysroot",
                                            "-isystem-after",
                                            "-ivfsoverlay",
                                            "-include-pch",
                                            "-cxx-isystem",
                                            "-c-isystem",
                                            "--sysroot",
                                            "--include",
                                            "-MF",
                                            "-MT",
                                            "-MQ",
                                            "-MJ",
                                            "-target",
                                            "-arch",
                                            "-Xclang",
                                            "-Xlinker",
                                            "-Xassembler",
                                            "-Xpreprocessor",
                                            "-Xoffload-linker",
                                            "-Xanalyzer",
                                            "-Xopenmp-target",
                                            "-Xcuda-ptxas",
                                            "-Xcuda-fatbinary",
                                            "-mllvm",
                                            "-mmlir",
                                            "-Wl",
                                            "--param",
                                            "-rpath",
                                            "-dumpdir",
                                            "-dumpbase",
                                            "-dumpbase-ext",
                                            "-working-directory",
                                            "--serialize-diagnostics",
                                            "-serialize-diagnostics",
                                            "-gcc-toolchain",
                                            "--prefix",
                                            "--define-macro",
                                            "--undefine-macro",
                                            "--include-directory",
                                            "--library-directory",
                                            "--language",
                                            "--output",
                                            "--imacros",
                                            "--for-linker",
                                            "--rocm-path",
                                            "--hip-path",
                                            "--config",
                                            "-framework"};

bool takesValue(std::string_view word) {
  // -Xarch_<target> OPTION: the option is one word.
  return std::find(std::begin(kTakesValue), std::end(kTakesValue), word) != std::end(kTakesValue) ||
         word.starts_with("-Xarch_") || word.starts_with("-Xopenmp-target=") || word.starts_with("-Xoffload-linker-");
}

bool endsWithAny(std::string_view path, std::initializer_list<std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view s) { return path.ends_with(s); });
}

bool isHipFile(std::string_view path) { return endsWithAny(path, {".hip", ".hipi", ".cu"}); }
bool isCxxFile(std::string_view path) {
  return endsWithAny(path, {".cpp", ".cc", ".cxx", ".C", ".c++", ".cp", ".CPP"});
}
bool isOtherSource(std::string_view path) {
  return path == "-" || endsWithAny(path, {".c", ".i", ".ii", ".s", ".S", ".asm", ".ll", ".bc", ".m", ".mm", ".cl",
                                           ".f", ".f90", ".h", ".hpp", ".hh", ".cppm"});
}

std::string_view baseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// "clang++", "clang++-22", "amdclang++", "hipcc", "g++", "x86_64-linux-gnu-c++-12"...: the first word names the
/// compiler.
bool isCompilerName(std::string_view word) {
  if (word.empty() || word[0] == '-' || word[0] == '@')
    return false;
  std::string_view name = baseName(word);
  for (std::string_view gnu : {"-g++", "-gcc", "-c++", "-clang++", "-clang"}) // behind a target triple
    if (size_t at = name.rfind(gnu);
        at != std::string_view::npos && name.substr(0, at).find('-') != std::string_view::npos)
      name.remove_prefix(at + 1);
  for (std::string_view stem :
       {"clang++", "amdclang++", "hipcc", "clang", "amdclang", "hipcc.bin", "g++", "gcc", "c++", "cc", "wavesan-c++"})
    if (name == stem || (name.starts_with(stem) && name.size() > stem.size() + 1 && name[stem.size()] == '-' &&
                         name.find_first_not_of("0123456789.", stem.size() + 1) == std::string_view::npos))
      return true;
  return false;
}

bool expandResponseFiles(const std::vector<std::string> &words, std::vector<std::string> &out, bool &used, int depth,
                         std::string &error) {
  for (const std::string &w : words) {
    if (w.size() < 2 || w[0] != '@') {
      out.push_back(w);
      continue;
    }
    std::ifstream file(w.substr(1));
    if (!file) { // The compiler takes an @word that names no file as it stands; so do we.
      out.push_back(w);
      continue;
    }
    if (depth > 20) {
      error = "response file " + w.substr(1) + " includes itself";
      return false;
    }
    used = true;
    std::stringstream text;
    text << file.rdbuf();
    if (!expandResponseFiles(splitResponseFile(text.str()), out, used, depth + 1, error))
      return false;
  }
  return true;
}

void addArchs(CompileLine &line, std::string_view list) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    std::string arch(list.substr(0, comma));
    if (!arch.empty() && std::find(line.offloadArchs.begin(), line.offloadArchs.end(), arch) == line.offloadArchs.end())
      line.offloadArchs.push_back(arch);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

void dropArchs(CompileLine &line, std::string_view value) {
  if (value == "all")
    line.offloadArchs.clear();
  std::erase(line.offloadArchs, value);
}

/// One option (`word`) and, where it takes one, its value.
void readOption(CompileLine &line, std::string_view word, std::string_view value, bool &wantsObjectOnly) {
  auto after = [&](std::string_view prefix) { return word.substr(prefix.size()); };
  auto startsWith = [&](std::string_view prefix) { return word.starts_with(prefix); };
  if (word == "-E" || word == "-M" || word == "-MM" || word == "-fsyntax-only" || word == "--preprocess" ||
      word == "--precompile")
    line.phase = CompilePhase::Preprocess;
  else if (startsWith("-L") || word == "-nostdlib" || word == "-nodefaultlibs" || word == "--library-directory")
    line.hasLibraryPath = true;
  else if (word == "-c" || word == "-S" || word == "-emit-llvm" || word == "--compile" || word == "--assemble") {
    wantsObjectOnly = true;
    line.assemblyOnly |= word == "-S" || word == "-emit-llvm" || word == "--assemble";
  } else if (startsWith("--offload-arch="))
    addArchs(line, after("--offload-arch="));
  else if (startsWith("--cuda-gpu-arch="))
    addArchs(line, after("--cuda-gpu-arch="));
  else if (startsWith("--amdgpu-target="))
    addArchs(line, after("--amdgpu-target="));
  else if (startsWith("--no-offload-arch="))
    dropArchs(line, after("--no-offload-arch="));
  else if (startsWith("--rocm-path="))
    line.rocmPath = after("--rocm-path=");
  else if (startsWith("--hip-path="))
    line.rocmPath = after("--hip-path=");
  else if (word == "--rocm-path" || word == "--hip-path")
    line.rocmPath = value;
  else if (startsWith("--rocm-device-lib-path=") || startsWith("--hip-device-lib-path=")) {
    line.hasDeviceLibPath = true;
    line.deviceLibPath = after(word.substr(0, word.find('=') + 1));
  } else if (startsWith("-mcode-object-version="))
    line.hasCodeObjectVersion = true;
  else if (word == "-mwavefrontsize64")
    line.wave64 = true;
  else if (word == "-mno-wavefrontsize64")
    line.wave64 = false;
  else if (word == "-fgpu-rdc" || word == "-fcuda-rdc")
    line.relocatableDevice = true;
  else if (word == "-fno-gpu-rdc" || word == "-fno-cuda-rdc")
    line.relocatableDevice = false;
  else if (word == "--cuda-host-only" || word == "--offload-host-only")
    line.hostOnly = true;
  else if (word == "--cuda-device-only" || word == "--offload-device-only")
    line.hostOnly = false;
  else if (word == "-nogpulib" || word == "--no-offloadlib" || word == "-nocudalib")
    line.noGpuLib = true;
  else if (word == "-nogpuinc" || word == "-no-offload-inc" || word == "--no-offload-inc" || word == "-nocudainc")
    line.noGpuInc = true;
  else if (word == "-fgpu-flush-denormals-to-zero" || word == "-fcuda-flush-denormals-to-zero")
    line.flushDenormals = true;
  else if (word == "-fno-gpu-flush-denormals-to-zero" || word == "-fno-cuda-flush-denormals-to-zero")
    line.flushDenormals = false;
  else if (word == "--hip-link")
    line.hipLink = true;
  else if (startsWith("-O")) {
    line.hasOptimization = true;
  } else if (word == "-g0" || word == "-ggdb0") {
    line.hasDebugInfo = false;
    line.deniesDebugInfo = true;
  } else if (word == "-g" || word == "-g1" || word == "-g2" || word == "-g3" || startsWith("-ggdb") ||
           startsWith("-glldb") || startsWith("-gdwarf") || word == "-gline-tables-only" || word == "-gmlt" ||
           word == "--debug" || word == "-gfull" || word == "-gused") {
    line.hasDebugInfo = true;
    line.deniesDebugInfo = false;
  } else if (startsWith("-D__AMDGCN_WAVEFRONT_SIZE") || startsWith("-U__AMDGCN_WAVEFRONT_SIZE") ||
           ((word == "-D" || word == "-U" || startsWith("-Xarch_")) &&
            value.find("__AMDGCN_WAVEFRONT_SIZE") != std::string_view::npos))
    line.definesWaveSize = true;
}

} // namespace

bool CompileLine::isHipcc() const { return baseName(compiler).starts_with("hipcc"); }
bool CompileLine::hasSource() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const CompileInput &i) { return i.isSource; });
}
bool CompileLine::hasHipSource() const {
  return std::any_of(inputs.begin(), inputs.end(), [](const CompileInput &i) { return i.isHip; });
}

std::vector<std::string> splitResponseFile(const std::string &text) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      open = true;
    } else if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      if (open)
        words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open)
    words.push_back(std::move(word));
  return words;
}

CompileLine readCompileLine(const std::vector<std::string> &words, std::string &error) {
  CompileLine line;
  size_t first = 0;
  if (!words.empty() && isCompilerName(words[0])) {
    // Our own name: `wavesan cc` in front of a build that uses wavesan-c++ already.
    if (baseName(words[0]) != "wavesan-c++")
      line.compiler = words[0];
    first = 1;
  }
  line.verbatimArgs.assign(words.begin() + first, words.end());
  if (!expandResponseFiles(line.verbatimArgs, line.args, line.usedResponseFile, 0, error))
    return line;

  std::string language;
  bool objectOnly = false, onlyFiles = false;
  for (size_t i = 0; i < line.args.size(); ++i) {
    const std::string &word = line.args[i];
    if (!onlyFiles && word.size() > 1 && word[0] == '-') {
      if (word == "--") {
        onlyFiles = true;
        continue;
      }
      std::string value;
      if (takesValue(word) && i + 1 < line.args.size())
        value = line.args[++i];
      if (word == "-x" || word == "--language")
        language = value == "none" ? "" : value;
      else if (word.starts_with("-x") && word.size() > 2)
        language = word.substr(2) == "none" ? "" : word.substr(2);
      else if (word.starts_with("--language="))
        language = word.substr(11) == "none" ? "" : word.substr(11);
      else
        readOption(line, word, value, objectOnly);
      continue;
    }
    line.inputs.push_back({i, word, language, false, false, false});
  }
  if (line.phase != CompilePhase::Preprocess && objectOnly)
    line.phase = CompilePhase::Compile;

  // hipcc takes C++ files as HIP; so do we where the user named a GPU, which means nothing for plain C++.
  bool cxxIsHip = line.isHipcc() || !line.offloadArchs.empty();
  for (CompileInput &in : line.inputs) {
    if (!in.language.empty()) {
      in.isSource = true;
      in.isHip = in.language == "hip" || in.language == "hip-cpp-output";
      continue;
    }
    bool hipFile = isHipFile(in.path), cxxFile = isCxxFile(in.path);
    in.isSource = hipFile || cxxFile || isOtherSource(in.path);
    in.isHip = hipFile || (cxxFile && cxxIsHip);
    // clang infers HIP from .hip, but CUDA from .cu.
    in.needsLanguage = in.isHip && !in.path.ends_with(".hip") && !in.path.ends_with(".hipi");
  }
  return line;
}

} // namespace wavesan::driver
