#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::proxy {

/// Writes lines of text to a descriptor from a thread of its own, so that no other thread waits for the reader of a
/// full pipe, a terminal that is stopped or a disk that does not answer. Lines that find no room are dropped and
/// counted, and a line that states their number takes their place. The thread is made by the constructor: a seccomp
/// filter may come later. Thread: any.
class LogWriter {
 public:
  /// Makes the line, with its end, that states how many lines were lost.
  using LossLine = std::function<std::string(std::uint64_t lines)>;
  /// Bytes that wait to be written at most, 1 MiB: some ten thousand lines.
  static constexpr std::size_t most_waiting = std::size_t{1} << 20U;

  /// Writes to a duplicate of `descriptor`, whose flags stay as they are: they belong to every process that shares the
  /// open file description. Where it is closed every line is lost.
  LogWriter(int descriptor, LossLine loss_line);
  /// Opens `path` to append to it. Throws std::system_error where it cannot be opened.
  LogWriter(const std::string& path, LossLine loss_line);
  /// Waits until all lines are written, but no longer than a second: what is left then is lost, and the thread is left
  /// behind in its system call until the process ends.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Queues a line, with its end.
  void write(std::string_view line);
  /// Lines from now on go to the file that has the name now. Throws std::system_error where it cannot be opened; lines
  /// go to the file as before then.
  void reopen();
  /// Number of lines that were dropped since the start.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  class Target;
  struct Shared;
  void start();

  std::string path_;  ///< empty where the descriptor was given
  std::shared_ptr<Shared> shared_;
};

}  // namespace sluice::proxy
