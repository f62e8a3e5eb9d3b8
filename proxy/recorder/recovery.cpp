#include "proxy/recorder/recovery.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
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

#include "proxy/pcapng/pcapng.hpp"
#include "proxy/recorder/ring_layout.hpp"

namespace sluice::capture {
namespace {

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw std::runtime_error(what + ": " + std::generic_category().message(errno));
}

/// The bytes of a file, locked against a program that would write to it.
class Mapped {
 public:
  explicit Mapped(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail_with_errno(path + " cannot be opened");
    try {
      map(path);
    } catch (const std::runtime_error&) {
      close(descriptor_);
      throw;
    }
  }
  ~Mapped() {
    munmap(memory_, size_);
    close(descriptor_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(memory_), size_}; }

 private:
  void map(const std::string& path) {
    if (flock(descriptor_, LOCK_SH | LOCK_NB) != 0)
      throw std::runtime_error(path + " is still being written to: the program runs");
    struct stat status {};
    if (fstat(descriptor_, &status) != 0) fail_with_errno(path + " cannot be looked at");
    size_ = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
    if (!S_ISREG(status.st_mode) || size_ < sizeof(RingHeader))
      throw std::runtime_error(path + " holds no frames: it is no file of last_frames, or was not finished");
    memory_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (memory_ == MAP_FAILED) fail_with_errno(path + " cannot be read");
  }

  int descriptor_;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// Whether there is what the header says.
bool makes_sense(const RingHeader& header, std::size_t size) {
  constexpr std::uint32_t most_shards = 1024;
  return header.magic == RingHeader::own_magic && header.version == RingHeader::own_version &&
         header.snap_length <= UINT16_MAX && header.slot_bytes == slot_bytes_for(header.snap_length) &&
         header.shards >= 1 && header.shards <= most_shards &&
         size - sizeof header == std::uint64_t{header.shards} * header.slots * header.slot_bytes;
}

/// Up to a zero, without what a terminal would obey.
std::string text_of(std::span<const char> bytes) {
  std::string text(bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0'));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

SlotHeader slot_at(std::span<const std::byte> bytes, std::size_t at) {
  SlotHeader slot;
  std::memcpy(&slot, bytes.data() + at, sizeof slot);
  return slot;
}

bool holds_frame(const SlotHeader& slot, const RingHeader& header) {
  return slot.number != 0 && slot.frame.captured <= header.snap_length && slot.frame.captured <= slot.frame.length &&
         slot.frame.wire < wire_count;
}

/// Where a frame is, and its place in the order of time.
struct Place {
  std::int64_t at;
  std::uint64_t number;  ///< of its shard: what was seen at the same time keeps its order
  std::size_t offset;

  bool operator<(const Place& other) const {
    return std::tie(at, number, offset) < std::tie(other.at, other.number, other.offset);
  }
};

std::vector<Place> places_of(std::span<const std::byte> bytes, const RingHeader& header) {
  std::vector<Place> places;
  for (std::size_t at = sizeof header; at < bytes.size(); at += header.slot_bytes) {
    const SlotHeader slot = slot_at(bytes, at);
    if (holds_frame(slot, header)) places.push_back({slot.frame.at, slot.number, at});
  }
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

Recovered recover(const std::string& path, const std::function<void(std::string_view)>& write) {
  constexpr std::size_t part = std::size_t{1} << 20U;
  const Mapped file(path);
  const std::span<const std::byte> bytes = file.bytes();
  const auto header = std::make_unique<RingHeader>();
  std::memcpy(header.get(), bytes.data(), sizeof *header);
  if (!makes_sense(*header, bytes.size()))
    throw std::runtime_error(path + " is no file of last_frames, or of another version of this program");
  std::string out;
  const std::array<std::string, 2> devices{text_of(header->devices[0]), text_of(header->devices[1])};
  pcapng::begin(out, text_of(header->program), devices, 0);
  const std::vector<Place> places = places_of(bytes, *header);
  for (const Place& place : places) {
    const FrameHeader frame = slot_at(bytes, place.offset).frame;
    const auto content = bytes.subspan(place.offset + sizeof(SlotHeader), frame.captured);
    const auto time = static_cast<std::uint64_t>(frame.at) + static_cast<std::uint64_t>(header->to_wall);
    pcapng::add_frame(out, frame, time, {reinterpret_cast<const std::uint8_t*>(content.data()), content.size()},
                      text_of(header->comments[frame.decision]));
    if (out.size() < part) continue;
    write(out);
    out.clear();
  }
  write(out);
  if (places.empty()) return {};
  return {places.size(), static_cast<std::uint64_t>(places.back().at) - static_cast<std::uint64_t>(places.front().at)};
}

}  // namespace sluice::capture
