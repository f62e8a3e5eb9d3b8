// Records how a run ends, and reads how the last one did. Runtime creates it before DPDK starts. Invariant: contents
// of both files are checked before use, because another program could have written them.
#include "proxy/daemon/runtime/run_record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "proxy/daemon/runtime/private_file.hpp"

namespace sluice::proxy {
namespace {

constexpr std::array<char, 8> run_magic{'S', 'L', 'U', 'I', 'C', 'E', 'R', '1'};
constexpr std::size_t longest_word = 40;  ///< maximum length of a word in the service manager's record of a run

std::array<char, 40> field_of(const std::string& text) {
  std::array<char, 40> field{};
  std::copy_n(text.begin(), std::min(text.size(), field.size() - 1), field.begin());
  return field;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string name_of_thread(std::uint32_t thread) {
  return thread == 1 ? "the control thread" : fmt::format("the poll thread of shard {}", thread - 2);
}

/// Reads a word and returns it if it contains only characters that are safe to log; else returns nothing.
std::optional<std::string> word_from(std::istream& stream) {
  std::string word;
  stream.width(longest_word + 1);
  const bool plain =
      stream >> word && word.size() <= longest_word && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '+';
      });
  return plain ? std::optional(word) : std::nullopt;
}

/// Returns how the run with this invocation id ended, as the service manager recorded it in `file`. `stalled` is text
/// about a stalled thread, which is added if the run was killed. Returns nothing if the manager recorded nothing about
/// this run.
std::optional<LastRun> from_manager(const std::string& file, const std::array<char, 40>& invocation,
                                    const std::string& stalled) {
  std::ifstream stream(file);
  const auto of = word_from(stream);
  const auto result = word_from(stream);
  const auto code = word_from(stream);
  const auto status = word_from(stream);
  if (!of || !result || !code || !status || field_of(*of) != invocation) return std::nullopt;
  if (*result == "watchdog") return LastRun{"watchdog", "systemd's watchdog killed it" + stalled, false};
  if (*result == "oom-kill") return LastRun{"out_of_memory", "the kernel killed it because memory was short", false};
  if (*result == "timeout") return LastRun{"timeout", "systemd killed it because its end took too long", false};
  if (*code == "exited") return LastRun{"failed", "it ended with exit code " + *status, false};
  return LastRun{"signal", fmt::format("signal {} ended it{}", *status, stalled), false};
}

}  // namespace

RunRecord::ServiceEnvironment RunRecord::service_environment() {
  const std::string folder = variable("RUNTIME_DIRECTORY");
  return {variable("INVOCATION_ID"), folder.empty() ? "" : folder + "/service_result"};
}

RunRecord::RunRecord(const std::string& path, const ServiceEnvironment& service) {
  make_folder_of(path);
  const auto fail = [&](const std::string& why) {
    if (descriptor_ >= 0) close(descriptor_);
    throw std::runtime_error(path + " " + why);
  };
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor_ < 0) fail(std::string("cannot be opened: ") + strerror(errno));
  try {
    require_private(descriptor_);
  } catch (const std::runtime_error& problem) {
    fail(problem.what());
  }
  // A lock of this kind does not pass to the watchdog process, which may outlive this one for a moment.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  if (fcntl(descriptor_, F_SETLK, &lock) != 0) fail("is used by another running program");
  Record left{};
  if (pread(descriptor_, &left, sizeof left, 0) == sizeof left && left.magic == run_magic)
    last_ = interpret(left, service);
  record_ = {run_magic, EndReason::none, 0, field_of(boot_id()), field_of(service.invocation)};
  write(record_);
}

RunRecord::~RunRecord() {
  if (record_.ending == EndReason::none) end(EndReason::failed);
  close(descriptor_);
}

std::optional<LastRun> RunRecord::interpret(const Record& record, const ServiceEnvironment& service) {
  const std::string thread = record.thread != 0 ? name_of_thread(record.thread) : "a thread";
  switch (record.ending) {
    case EndReason::command:
      return LastRun{"command", "the command stop ended it"};
    case EndReason::sigterm:
      return LastRun{"sigterm", "SIGTERM ended it"};
    case EndReason::sigint:
      return LastRun{"sigint", "SIGINT ended it"};
    case EndReason::failed:
      return LastRun{"failed", "it ended because of an error, which its log states", false};
    case EndReason::hang:
      return LastRun{"hang", "its watchdog killed it, because " + thread + " hung while others ran", false};
    case EndReason::stopped:
      return LastRun{"stopped", "its watchdog killed it, because all its threads stalled", false};
    case EndReason::none:
      break;
  }
  const std::string stalled = record.thread != 0 ? "; " + thread + " had stalled" : "";
  if (const auto managed = from_manager(service.result_file, record.invocation, stalled)) return managed;
  if (record.boot != field_of(boot_id())) return LastRun{"reboot", "the machine restarted while it ran", false};
  return LastRun{"killed", "it was killed or it crashed, and nothing recorded why" + stalled, false};
}

void RunRecord::end(EndReason ending) {
  record_.ending = ending;
  write(record_);
}

void RunRecord::note_stall(std::optional<std::uint32_t> shard) {
  record_.thread = shard ? *shard + 2 : 0;
  write(record_);
}

void RunRecord::killed_by_watchdog(EndReason why, std::uint32_t thread) const {
  Record last = record_;
  last.ending = why;
  last.thread = thread + 1;
  write(last);
}

void RunRecord::write(const Record& record) const {
  // A failure only makes the next run state that the reason is unknown.
  if (pwrite(descriptor_, &record, sizeof record, 0) < 0) return;
}

}  // namespace sluice::proxy
