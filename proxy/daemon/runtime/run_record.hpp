#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::proxy {

/// Reason for the end of a run. The values are stored in a file, so they must not change.
enum class EndReason : std::uint32_t {
  none,     ///< the run has not ended, or it ended before it could record anything
  command,  ///< `sluicectl stop`
  sigterm,
  sigint,
  failed,   ///< the run ended by an error, which it logged
  hang,     ///< the watchdog process killed the run, because one of its threads hung
  stopped,  ///< the watchdog process killed the run, because none of its threads made progress
};

/// How the last run ended.
struct LastRun {
  std::string ended;  ///< one word for machine-readable output, such as "sigterm"
  std::string text;   ///< one sentence for operators
  bool orderly = true;
};

/// File that records how this run ends, so that the next run can report it. A run that is killed records nothing, so
/// the constructor also reads what the service manager recorded. Thread: the control thread, except for
/// killed_by_watchdog().
class RunRecord {
 public:
  /// Values from the environment variables of a systemd service.
  struct ServiceEnvironment {
    std::string invocation;  ///< INVOCATION_ID of this run; empty without systemd
    /// Path of a file that ExecStopPost= writes when a run has ended: its invocation id, result, code and status.
    std::string result_file;
  };
  /// Reads the environment variables that systemd sets for a service.
  [[nodiscard]] static ServiceEnvironment service_environment();

  /// Reads the record of the last run, then replaces it by a record of this run. Throws std::runtime_error with the
  /// reason, for example that another running program uses the file.
  RunRecord(const std::string& path, const ServiceEnvironment& service);
  /// Records `failed` if end() was not called, because the program is then ending by an exception.
  ~RunRecord();
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  /// Returns how the last run ended, or nothing if there was no earlier run.
  [[nodiscard]] const std::optional<LastRun>& last() const { return last_; }
  /// Records how this run ends.
  void end(EndReason ending);
  /// Records which shard's poll thread currently stalls; nothing if no thread stalls.
  void note_stall(std::optional<std::uint32_t> shard);
  /// Records that the watchdog process is about to kill this run. Makes a single system call, so the watchdog process
  /// may call it after fork(). `thread` is 0 for the control thread, and shard + 1 for a poll thread.
  void killed_by_watchdog(EndReason why, std::uint32_t thread) const;

 private:
  /// Contents of the file.
  struct Record {
    std::array<char, 8> magic;
    EndReason ending;
    /// thread that hangs or stalls: 0 for none, 1 for the control thread, shard + 2 for a poll thread
    std::uint32_t thread;
    std::array<char, 40> boot;
    std::array<char, 40> invocation;
  };

  [[nodiscard]] static std::optional<LastRun> interpret(const Record& record, const ServiceEnvironment& service);
  void write(const Record& record) const;

  int descriptor_ = -1;
  Record record_{};
  std::optional<LastRun> last_;
};

}  // namespace sluice::proxy
