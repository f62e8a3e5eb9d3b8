// File with the epoch of a sender, so that epochs increase over restarts even if the clock goes back. Called once at
// start by the proxy and the Node-B emulator if feedback.epoch_file is configured. The new epoch is on disk before any
// datagram is sent. A crash leaves the old or the new file, never a partial one.

#include "control/feedback/epoch_file.hpp"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "control/feedback/session.hpp"

namespace sluice::control::feedback {
namespace {

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw std::runtime_error("epoch file " + file + ": " + what);
}

/// File descriptor that is closed on destruction.
class Opened {
 public:
  Opened(const std::string& file, int flags) : descriptor_(open(file.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~Opened() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Reads the epoch of the last run; returns nothing if the file does not exist.
std::optional<std::uint64_t> read_epoch(const std::string& file) {
  const Opened opened(file, O_RDONLY);
  if (opened.get() < 0 && errno == ENOENT) return std::nullopt;
  std::array<char, 32> text{};
  const ssize_t size = opened.get() < 0 ? -1 : read(opened.get(), text.data(), text.size());
  if (size < 0) fail(file, "cannot be read: " + std::string(strerror(errno)));
  std::uint64_t epoch = 0;
  const char* const end = text.data() + size;
  const auto [stop, error] = std::from_chars(text.data(), end, epoch);
  const bool whole = error == std::errc() && std::string_view(stop, static_cast<std::size_t>(end - stop)) == "\n";
  if (!whole || epoch == std::numeric_limits<std::uint64_t>::max()) {
    fail(file, "holds something else than an epoch and a line end; remove it to start again");
  }
  return epoch;
}

/// Writes the epoch to a new file and renames it to `file`, because a crash then leaves either the old or the new
/// epoch.
void write_epoch(const std::string& file, std::uint64_t epoch) {
  const std::string fresh = file + ".new";
  const std::string text = std::to_string(epoch) + "\n";
  const auto require = [&file](bool done) {
    if (!done) fail(file, "cannot be written: " + std::string(strerror(errno)));
  };
  {
    const Opened opened(fresh, O_WRONLY | O_CREAT | O_TRUNC);
    require(opened.get() >= 0);
    require(::write(opened.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    require(fsync(opened.get()) == 0);
  }
  require(std::rename(fresh.c_str(), file.c_str()) == 0);
}

}  // namespace

std::uint64_t begin_epoch(const std::string& file, std::uint64_t wall_clock_ns) {
  const std::uint64_t epoch = next_epoch(read_epoch(file), wall_clock_ns);
  write_epoch(file, epoch);
  return epoch;
}

}  // namespace sluice::control::feedback
