// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `wavesan cc` and `wavesan c++`: read the command line, find the toolchain, complete the command, become the
// compiler; or run it, and then look for missing waits in the machine code (wait_check_step.h).
#include "checks.h"
#include "child_process.h"
#include "commands.h"
#include "compile_plan.h"
#include "hip_objects.h"
#include "message.h"
#include "shell_quote.h"
#include "wait_check_step.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include <unistd.h>

namespace wavesan::driver {

static constexpr char kUsage[] =
    "Usage: wavesan cc [OPTIONS] [COMPILER] ARGS...\n"
    "       wavesan c++ ARGS...\n\n"
    "Compiles a HIP program as `clang++ ARGS...` or `hipcc ARGS...` would, with WaveSan's plugin added, and with what "
    "a new\n"
    "clang needs to work with an old HIP. The arguments are passed on as they are, in their order. What is no HIP "
    "goes\n"
    "to the compiler unchanged. OPTIONS may stand anywhere.\n\n"
    "  --show           print the command instead of running it\n"
    "  --gpu=A,B        the GPUs to compile HIP sources for, where ARGS name none\n"
    "  --with=OPTION    an option for HIP sources only; may be given more than once\n"
    "  --ignorelist=FILE  accesses and kernels not to check, as for -fsanitize-ignorelist (docs/filters.md)\n"
    "  --kernels=LIST   the kernels to check: globs between semicolons, '!' excludes\n"
    "  --keep-covered   also check reads whose bytes the same lane has just accessed (docs/algorithm.md)\n"
    "  --check-host     also look for races of the host's own accesses with commands (docs/stream-order.md)\n"
    "  --wait-check=MODE  machine code with missing waits: warn (default), error, off (docs/waitcheck.md)\n"
    "  WAVESAN_CXX      environment: the clang++ to use (its LLVM must match the plugin's)\n"
    "  WAVESAN_PLUGIN   environment: the plugin to use, one built for another LLVM (docs/rocm.md)\n"
    "  WAVESAN_WAIT_CHECK  environment: as --wait-check\n\n"
    "`wavesan c++` takes no options of its own. The installed link wavesan-c++ is the same as one file name, for\n"
    "CMAKE_CXX_COMPILER, CMAKE_HIP_COMPILER and CXX=.\n\n"
    "  wavesan cc --offload-arch=gfx90a -O2 app.hip -o app\n";

static int become(const std::vector<std::string> &command) {
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  std::cout.flush();
  execvp(argv[0], argv.data());
  return fail("cannot run " + command[0] + ": " + std::strerror(errno),
              errno == ENOENT ? kExitNotFound : kExitNotExecutable);
}

/// As become(), but comes back: the compiler's exit status. A signal that ends it ends this process too.
static int runCompiler(const std::vector<std::string> &command) {
  std::vector<std::string> environment;
  for (char **e = environ; *e; ++e)
    environment.push_back(*e);
  std::cout.flush();
  const ChildEnd end = runChild(command, environment);
  if (end.startError != 0)
    return fail("cannot run " + command[0] + ": " + std::strerror(end.startError),
                end.startError == ENOENT ? kExitNotFound : kExitNotExecutable);
  if (end.signal != 0) {
    endBySignal(end.signal);
    return 128 + end.signal;
  }
  return end.exitStatus;
}

namespace {

/// What `wavesan cc` itself was told.
struct OwnOptions {
  bool show = false;
  std::vector<std::string> gpus, with;
  std::vector<std::string> filters; ///< the plugin's options
  std::string waitCheck;
  bool checkHost = false;
};

/// False: the word is none of them.
bool takeOwnOption(const std::string &word, OwnOptions &own) {
  if (word == "--show")
    own.show = true;
  else if (word.starts_with("--gpu="))
    own.gpus.push_back("--offload-arch=" + word.substr(6));
  else if (word.starts_with("--ignorelist="))
    own.filters.push_back("-wavesan-ignorelist=" + word.substr(13));
  else if (word.starts_with("--kernels="))
    own.filters.push_back("-wavesan-kernels=" + word.substr(10));
  else if (word == "--keep-covered")
    own.filters.push_back("-wavesan-keep-covered");
  else if (word == "--check-host")
    own.checkHost = true;
  else if (word.starts_with("--wait-check="))
    own.waitCheck = word.substr(13);
  else if (word.starts_with("--with="))
    own.with.push_back(word.substr(7));
  else
    return false;
  return true;
}

/// The next word belongs to this option, whatever it looks like.
bool takesNextWord(const std::string &option) {
  return option == "-o" || option == "-mllvm" || (option.starts_with("-X") && option.find('=') == std::string::npos);
}

/// Takes them out of `args`, wherever they stand: no compiler has options of these names.
OwnOptions takeOwnOptions(std::vector<std::string> &args) {
  OwnOptions own;
  std::vector<std::string> others;
  bool literal = false, files = false; // behind "--" are files only
  for (std::string &word : args) {
    if (!literal && !files && takeOwnOption(word, own))
      continue;
    files = files || (!literal && word == "--");
    literal = !literal && takesNextWord(word);
    others.push_back(std::move(word));
  }
  args = std::move(others);
  return own;
}

/// The line with the options that belong to HIP sources, where it has such sources.
CompileLine completeLine(const CompileLine &line, const OwnOptions &own, std::string &error) {
  if (!line.hasHipSource() || (own.gpus.empty() && own.with.empty()))
    return line;
  std::vector<std::string> words = {line.compiler.empty() ? "wavesan-c++" : line.compiler};
  if (line.offloadArchs.empty())
    words.insert(words.end(), own.gpus.begin(), own.gpus.end());
  words.insert(words.end(), own.with.begin(), own.with.end());
  words.insert(words.end(), line.verbatimArgs.begin(), line.verbatimArgs.end());
  return readCompileLine(words, error);
}

/// The first of the checks that this line depends on and that finds a problem.
std::optional<Check> firstProblem(const Machine &machine, const Layout &layout, const CompileLine &line,
                                  const Compiler &compiler, const HipInstall &hip) {
  std::vector<Check> checks = {checkTemporaryDirectory(machine)};
  if (hip.headersNeedRcpF16 && !line.noGpuInc)
    checks.push_back(checkCompatHeader(layout));
  if (!line.hostOnly && !line.noGpuLib && !compiler.isHipcc)
    checks.push_back(checkDeviceLibraries(machine, line, hip, compiler));
  if (!line.hostOnly && !line.assemblyOnly && !compiler.isHipcc)
    checks.push_back(checkLinker(machine, compiler));
  if (!line.hostOnly && line.phase != CompilePhase::Preprocess && !compiler.isHipcc)
    checks.push_back(checkBundler(machine, line, compiler));
  // Whoever names library directories may have HIP's library there.
  if (line.phase == CompilePhase::Link && !line.hasLibraryPath && !compiler.isHipcc)
    checks.push_back(checkHipRuntime(machine, hip));
  for (const Check &check : checks)
    if (check.isProblem())
      return check;
  return std::nullopt;
}

int compile(CompileLine line, const OwnOptions &own) {
  // The user's own compiler for what is no HIP: unchanged means the compiler too. hipcc links HIP without being told.
  if (!line.compiler.empty() && !line.isHipcc() && !line.hasHipSource() && !line.hipLink) {
    std::vector<std::string> command = {line.compiler};
    command.insert(command.end(), line.verbatimArgs.begin(), line.verbatimArgs.end());
    if (!own.show)
      return become(command);
    std::cout << shellQuote(command) << '\n';
    return 0;
  }

  std::string error, note;
  const Layout layout = layoutOfThisProcess(error);
  if (!error.empty())
    return fail(error);
  line = completeLine(line, own, error);
  if (!error.empty())
    return fail(error);
  const bool instruments = line.hasHipSource() && line.phase != CompilePhase::Preprocess;

  std::optional<PluginIdentity> identity;
  if (Check check = checkPlugin(layout, identity); instruments && !own.show && check.isProblem())
    return fail(check.text);
  const Machine machine = Machine::current();
  const WaitCheck waitCheck = chooseWaitCheck(machine, own.waitCheck, error);
  if (!error.empty())
    return fail(error);
  std::optional<Compiler> compiler;
  if (Check check = checkCompiler(machine, pluginTarget(identity), line.compiler, compiler, note); check.isProblem())
    return fail(check.text);
  const HipInstall hip = findHip(machine, line, compiler->version);
  if (line.hasHipSource() && !line.noGpuInc)
    if (Check check = checkHip(hip); check.isProblem())
      return fail(check.text);

  line.pluginOptions = own.filters;
  line.checksHost = own.checkHost;
  if (own.checkHost)
    line.pluginOptions.push_back("-wavesan-check-host");
  line.linksHipObjects = linksHipObjects(line);
  const CompilePlan plan = planCompile(line, *compiler, hip, layout);
  if (!plan.error.empty())
    return fail(plan.error);
  if (!note.empty())
    say("note: " + note);
  for (const std::string &n : plan.notes)
    say("note: " + n);
  if (own.show) {
    std::cout << shellQuote(plan.command) << '\n';
    return 0;
  }
  if (instruments)
    if (std::optional<Check> problem = firstProblem(machine, layout, line, *compiler, hip))
      return fail(problem->text);
  const std::vector<std::string> outputs =
      waitCheck == WaitCheck::Off ? std::vector<std::string>() : deviceCodeOutputs(line);
  if (outputs.empty())
    return become(plan.command);
  if (Check check = checkWaitChecker(layout); check.isProblem()) {
    if (waitCheck == WaitCheck::Error)
      return fail(check.text);
    say("note: waits are not checked: " + check.text);
    return become(plan.command);
  }
  if (const int status = runCompiler(plan.command); status != 0)
    return status;
  return checkWaitsOf(outputs, layout, waitCheck);
}

} // namespace

int compileCommand(const std::vector<std::string> &words) {
  std::vector<std::string> args = words;
  const OwnOptions own = takeOwnOptions(args);
  if (args.empty() || (args.size() == 1 && (args[0] == "--help" || args[0] == "-h"))) {
    (args.empty() ? std::cerr : std::cout) << kUsage;
    return args.empty() ? kExitUsage : 0;
  }
  std::string error;
  CompileLine line = readCompileLine(args, error);
  return error.empty() ? compile(std::move(line), own) : fail(error);
}

int cxxCommand(const std::vector<std::string> &words) {
  // As a compiler it has no name of another compiler in front.
  std::vector<std::string> args = {"wavesan-c++"};
  args.insert(args.end(), words.begin(), words.end());
  std::string error;
  CompileLine line = readCompileLine(args, error);
  return error.empty() ? compile(std::move(line), {}) : fail(error);
}

} // namespace wavesan::driver
