// A filter's program comes over the operator's socket and runs on a poll thread: whatever is taken ends, and reads
// nothing but the frame and what it wrote itself. A file of last frames may come from anywhere: it is refused, or whole
// blocks of pcapng are made of it.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/capture/program.hpp"
#include "proxy/ops/capture/recovery.hpp"
#include "proxy/ops/capture/ring_layout.hpp"

namespace {

using namespace sluice::capture;
using Octets = std::span<const std::uint8_t>;

void require(bool condition) {
  if (!condition) std::abort();
}

/// The text of a program up to a newline; the rest is a frame.
void filter(Octets input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const std::size_t end = text.find('\n');
  const std::optional<Program> program = Program::parse(text.substr(0, end));
  if (!program || end == std::string_view::npos) return;
  const std::vector<std::uint8_t> frame(input.begin() + static_cast<std::ptrdiff_t>(end) + 1, input.end());
  const bool taken = program->takes(frame, frame.size());
  require(program->takes(frame, frame.size()) == taken);  // nothing but the frame decides
}

constexpr std::uint32_t snap_length = 64;
constexpr std::uint32_t slots = 4;
constexpr std::uint32_t shards = 2;

/// A file as it should be.
std::vector<std::uint8_t> good_file() {
  constexpr std::size_t stride = slot_bytes_for(snap_length);
  std::vector<std::uint8_t> file(sizeof(RingHeader) + shards * slots * stride);
  const auto put = [&](std::size_t at, const auto& value) { std::memcpy(&file[at], &value, sizeof value); };
  put(offsetof(RingHeader, magic), RingHeader::own_magic);
  put(offsetof(RingHeader, version), RingHeader::own_version);
  put(offsetof(RingHeader, slot_bytes), slot_bytes_for(snap_length));
  put(offsetof(RingHeader, slots), slots);
  put(offsetof(RingHeader, shards), shards);
  put(offsetof(RingHeader, snap_length), snap_length);
  for (std::uint64_t i = 0; i < shards * slots; ++i)
    put(sizeof(RingHeader) + i * stride, SlotHeader{i + 1, {static_cast<std::int64_t>(i), 100, snap_length, 1, 7}});
  return file;
}

/// Each four bytes change a byte of the file: where, in three, and to what. What is left over cuts its end off.
std::vector<std::uint8_t> changed_file(Octets changes) {
  std::vector<std::uint8_t> file = good_file();
  for (; changes.size() >= 4; changes = changes.subspan(4))
    file[(changes[0] | std::size_t{changes[1]} << 8U | std::size_t{changes[2]} << 16U) % file.size()] = changes[3];
  if (!changes.empty()) file.resize(file.size() * changes[0] / UINT8_MAX);
  return file;
}

void require_whole_blocks(std::string_view text) {
  while (!text.empty()) {
    require(text.size() >= 12);
    std::uint32_t length = 0;
    std::memcpy(&length, text.data() + 4, sizeof length);
    require(length % 4 == 0 && length >= 12 && length <= text.size());
    require(std::memcmp(text.data() + length - 4, &length, sizeof length) == 0);
    text.remove_prefix(length);
  }
}

void recovery(Octets input) {
  const std::vector<std::uint8_t> bytes = changed_file(input);
  const int file = memfd_create("last-frames", MFD_CLOEXEC);
  require(file >= 0 && write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  std::string text;
  try {
    const Recovered recovered =
        recover("/proc/self/fd/" + std::to_string(file), [&text](std::string_view part) { text += part; });
    require(recovered.frames <= std::size_t{shards} * slots);
    require_whole_blocks(text);
  } catch (const std::runtime_error&) {
    require(text.empty());  // refused before anything is written
  }
  close(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Octets rest(data + 1, size - 1);
  data[0] % 2 == 0 ? filter(rest) : recovery(rest);
  return 0;
}
