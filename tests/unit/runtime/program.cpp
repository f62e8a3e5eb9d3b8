// Starts programs for tests and collects their output and exit codes. program_test.cpp and others use it.
#include "tests/unit/runtime/program.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

void redirect(int descriptor, const std::filesystem::path& file) {
  const int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, S_IRUSR | S_IWUSR);
  if (opened < 0 || dup2(opened, descriptor) < 0) _exit(127);
}

pid_t spawn(const std::string& executable, std::vector<std::string> arguments, const std::filesystem::path& folder) {
  arguments.insert(arguments.begin(), executable);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child > 0) return child;
  redirect(STDOUT_FILENO, folder / "out");
  redirect(STDERR_FILENO, folder / "err");
  execv(executable.c_str(), words.data());
  _exit(127);
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "sluice-program-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  std::filesystem::permissions(path_ / name, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  return (path_ / name).string();
}

std::string TemporaryFolder::read(const std::string& name) const {
  std::ifstream stream(path_ / name, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Program::Program(const std::string& executable, const std::vector<std::string>& arguments)
    : pid_(spawn(executable, arguments, folder_.path())) {}

Program::~Program() {
  if (!running()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Program::signal(int number) const {
  kill(pid_, number);
}

bool Program::running() {
  if (result_) return false;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
  result_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return false;
}

std::optional<int> Program::wait() {
  for (int i = 0; i < 6000 && running(); ++i) std::this_thread::sleep_for(10ms);
  return result_;
}

Finished run(const std::string& executable, const std::vector<std::string>& arguments) {
  Program program(executable, arguments);
  const std::optional<int> code = program.wait();
  if (!code) throw std::runtime_error(executable + " does not end");
  return {*code, program.out(), program.err()};
}

}  // namespace sluice::test
