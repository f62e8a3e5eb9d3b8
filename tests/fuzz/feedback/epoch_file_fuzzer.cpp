// The file that keeps a sender's epoch may hold anything, after a crash or a slip of the hand: it is taken for an
// epoch, and then the next start has a greater one, or refused and left as it is.
#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "control/feedback/epoch_file.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// A file in a folder of its own, in memory where there is such a place, for as long as the program runs.
class Scratch {
 public:
  Scratch() {
    const bool memory = std::filesystem::is_directory("/dev/shm");
    std::string name =
        (memory ? std::string("/dev/shm") : std::filesystem::temp_directory_path().string()) + "/epoch-XXXXXX";
    require(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string path() const { return (folder_ / "epoch").string(); }
  void write(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  [[nodiscard]] std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path(), std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sluice::control::feedback::begin_epoch;
  static const Scratch scratch;
  constexpr std::uint64_t wall_clock_ns = 1'700'000'000'000'000'000;
  const std::string text(data, data + size);
  scratch.write(text);
  try {
    const std::uint64_t epoch = begin_epoch(scratch.path(), wall_clock_ns);
    require(epoch >= wall_clock_ns);
    require(epoch > std::stoull(text));
    require(scratch.read() == std::to_string(epoch) + "\n");
    require(epoch == UINT64_MAX || begin_epoch(scratch.path(), 1) == epoch + 1);
  } catch (const std::runtime_error&) {
    require(scratch.read() == text);
  }
  return 0;
}
