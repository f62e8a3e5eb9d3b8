// Converts a file of last frames into pcapng for `sluicectl capture --recover`. The file is untrusted: every size and
// index is checked before use. Invariant: a file that is truncated during the conversion causes an error, not a
// crash, because it is read and never mapped.
#include "proxy/ops/capture/recovery.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <vector>

#include "proxy/ops/capture/pcapng.hpp"
#include "proxy/ops/capture/ring_layout.hpp"

namespace sluice::capture {
namespace {

/// Size in bytes of the parts in which the file of last frames is read and the capture is written.
constexpr std::size_t part_bytes = std::size_t{1} << 20U;

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw std::runtime_error(what + ": " + std::generic_category().message(errno));
}

/// Opened file of last frames. The file is locked, so that no program writes to it meanwhile. The file is read and not
/// mapped, because access to a mapped file that is truncated raises SIGBUS.
class Source {
 public:
  explicit Source(const std::string& path) : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail_with_errno(path + " cannot be opened");
    try {
      check();
    } catch (const std::runtime_error&) {
      close(descriptor_);
      throw;
    }
  }
  ~Source() { close(descriptor_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Fills `out` with the bytes of the file from `offset` on. Throws std::runtime_error if the file has fewer bytes or
  /// cannot be read.
  void read(std::span<std::byte> out, std::size_t offset) const {
    while (!out.empty()) {
      const ssize_t count = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_with_errno(path_ + " cannot be read");
      if (count == 0) throw std::runtime_error(path_ + " was truncated while it was read");
      out = out.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::size_t>(count);
    }
  }

 private:
  void check() {
    if (flock(descriptor_, LOCK_SH | LOCK_NB) != 0)
      throw std::runtime_error(path_ + " is still in use by a running program");
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail_with_errno(path_ + " cannot be inspected");
    size_ = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
    if (!S_ISREG(status.st_mode) || size_ < sizeof(RingHeader))
      throw std::runtime_error(path_ + " contains no frames: it is no file of last_frames, or is incomplete");
  }

  std::string path_;
  int descriptor_;
  std::size_t size_ = 0;
};

/// True if the header's values are plausible and agree with `size`, the size of the file.
bool makes_sense(const RingHeader& header, std::size_t size) {
  constexpr std::uint32_t max_shards = 1024;
  return header.magic == RingHeader::own_magic && header.version == RingHeader::own_version &&
         header.snap_length <= UINT16_MAX && header.slot_bytes == slot_bytes_for(header.snap_length) &&
         header.shards >= 1 && header.shards <= max_shards &&
         size - sizeof header == std::uint64_t{header.shards} * header.slots * header.slot_bytes;
}

/// Returns the text up to the first zero byte. Characters that are not printable ASCII are replaced, so that a terminal
/// does not execute them.
std::string text_of(std::span<const char> bytes) {
  std::string text(bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0'));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

SlotHeader header_of(std::span<const std::byte> slot) {
  SlotHeader header;
  std::memcpy(&header, slot.data(), sizeof header);
  return header;
}

bool holds_frame(const SlotHeader& slot, const RingHeader& header) {
  return slot.number != 0 && slot.frame.captured <= header.snap_length && slot.frame.captured <= slot.frame.length &&
         slot.frame.wire < wire_count;
}

/// Place of a frame in the file, with the values by which frames are sorted.
struct Place {
  std::int64_t at;
  std::uint64_t number;  ///< number of the frame within its shard; it determines the order of frames with equal times
  std::size_t offset;

  bool operator<(const Place& other) const {
    return std::tie(at, number, offset) < std::tie(other.at, other.number, other.offset);
  }
};

std::vector<Place> places_of(const Source& file, const RingHeader& header) {
  const std::size_t slots_at_once = std::min(part_bytes, file.size() - sizeof header) / header.slot_bytes;
  std::vector<std::byte> slots(std::max<std::size_t>(slots_at_once, 1) * header.slot_bytes);
  std::vector<Place> places;
  for (std::size_t at = sizeof header; at < file.size(); at += slots.size()) {
    const std::span<std::byte> some = std::span(slots).first(std::min(slots.size(), file.size() - at));
    file.read(some, at);
    for (std::size_t within = 0; within < some.size(); within += header.slot_bytes) {
      const SlotHeader slot = header_of(some.subspan(within));
      if (holds_frame(slot, header)) places.push_back({slot.frame.at, slot.number, at + within});
    }
  }
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

Recovered recover(const std::string& path, const std::function<void(std::string_view)>& write) {
  const Source file(path);
  const auto header = std::make_unique<RingHeader>();
  file.read(std::as_writable_bytes(std::span(header.get(), 1)), 0);
  if (!makes_sense(*header, file.size()))
    throw std::runtime_error(path + " is no file of last_frames, or of another version of this program");
  std::string out;
  const std::array<std::string, 2> devices{text_of(header->devices[0]), text_of(header->devices[1])};
  pcapng::begin(out, text_of(header->program), devices, 0);
  const std::vector<Place> places = places_of(file, *header);
  std::vector<std::byte> bytes(header->slot_bytes);
  Recovered read;
  for (const Place& place : places) {
    file.read(bytes, place.offset);
    const SlotHeader slot = header_of(bytes);
    if (!holds_frame(slot, *header)) continue;  // overwritten after places_of() had read it
    const auto content = std::span(bytes).subspan(sizeof slot, slot.frame.captured);
    const auto time = static_cast<std::uint64_t>(slot.frame.at) + static_cast<std::uint64_t>(header->to_wall);
    pcapng::add_frame(out, slot.frame, time, {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()},
                      text_of(header->comments[slot.frame.decision]));
    ++read.frames;
    if (out.size() < part_bytes) continue;
    write(out);
    out.clear();
  }
  write(out);
  if (!places.empty())
    read.nanoseconds = static_cast<std::uint64_t>(places.back().at) - static_cast<std::uint64_t>(places.front().at);
  return read;
}

}  // namespace sluice::capture
