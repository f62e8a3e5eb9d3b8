#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice::proxy {

/// How a run ends. The values are stored in the file, so they must not change.
enum class Ending : std::uint32_t {
  none,     ///< the run has not ended, or it ended before it could record anything
  command,  ///< `sluicectl stop`
  sigterm,
  sigint,
  failed,   ///< an error that the run logged
  hang,     ///< the watchdog process killed the run, because one of its threads hung
  stopped,  ///< the watchdog process killed the run, because all its threads stalled
};

/// How the last run ended.
struct LastRun {
  std::string ended;  ///< one word for machine-readable output, such as "sigterm"
  std::string text;   ///< one sentence for operators
  bool orderly = true;
};

/// File that records how this run ends, so that the next run can read it. A run that is killed records nothing, so its
/// service manager's record is read too. Thread: the control thread, except for killed_by_watchdog().
class RunRecord {
 public:
  /// Values that the environment of a systemd service contains.
  struct ServiceEnvironment {
    std::string invocation;  ///< INVOCATION_ID of this run; empty without systemd
    /// Path of the file to which ExecStopPost= writes invocation, result, code and status of an ended run.
    std::string result_file;
  };
  /// Reads the environment that systemd gives to a service.
  [[nodiscard]] static ServiceEnvironment service_environment();

  /// Reads the record of the last run, then replaces it by one of this run. Throws std::runtime_error with the
  /// reason, for example because another run uses the file.
  RunRecord(const std::string& path, const ServiceEnvironment& service);
  /// Records `failed` if end() was not called, because the program then ends by an exception.
  ~RunRecord();
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;

  /// Returns how the last run ended, or nothing if there was no earlier run.
  [[nodiscard]] const std::optional<LastRun>& last() const { return last_; }
  /// Records how this run ends.
  void end(Ending ending);
  /// Records that the poll thread of `shard` stalls, or that no thread stalls.
  void note_stall(std::optional<std::uint32_t> shard);
  /// Records that the watchdog process is about to kill this run. Makes one system call, so that it may be called
  /// after fork(). `thread` is 0 for the control thread, and shard + 1 for a poll thread.
  void killed_by_watchdog(Ending why, std::uint32_t thread) const;

 private:
  /// Contents of the file.
  struct Record {
    std::array<char, 8> magic;
    Ending ending;
    std::uint32_t thread;  ///< thread that hangs or stalls: 1 the control thread, shard + 2 a poll thread, 0 none
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
