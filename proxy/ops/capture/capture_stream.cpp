// Merges the taps of all shards into one pcapng stream. The admin server calls take() on the control thread until it
// returns false. Invariant: no frame arrives after the last drain, because the shards have detached by then or are
// considered stalled after longest_farewell.
#include "proxy/ops/capture/capture_stream.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "proxy/ops/capture/decision.hpp"
#include "proxy/ops/capture/pcapng.hpp"

namespace sluice::capture {
namespace {

/// Maximum time to wait at the end of a capture until no shard uses its taps (rings for copies of frames) any more. A
/// shard that takes longer is considered stalled.
constexpr Duration longest_farewell = std::chrono::seconds(1);

/// Header and bytes of one frame in the data that was read from a tap, the ring with the frames of one shard.
struct Record {
  FrameHeader header;
  std::span<const std::uint8_t> bytes;
};

/// Appends a record of each complete frame in `bytes` to `out`. Returns the total length of these frames with their
/// headers.
std::size_t read_records(std::span<const std::uint8_t> bytes, std::vector<Record>& out) {
  std::size_t at = 0;
  while (bytes.size() - at >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    const std::size_t end = at + sizeof header + header.captured;
    if (end > bytes.size()) break;
    out.push_back({header, bytes.subspan(at + sizeof header, header.captured)});
    at = end;
  }
  return at;
}

std::int64_t nanoseconds_of(Instant instant) {
  return instant.time_since_epoch().count();
}

}  // namespace

CaptureStream::CaptureStream(Parts parts, std::vector<std::shared_ptr<FrameTap>> taps, std::optional<Duration> duration)
    : parts_(std::move(parts)),
      snap_length_(taps.empty() ? 0 : taps.front()->filter().snap_length.value_or(0)),
      begun_at_(nanoseconds_of(parts_.clock.now())),
      to_wall_(static_cast<std::int64_t>(parts_.clock.wall()) - begun_at_) {
  if (duration) deadline_ = parts_.clock.now() + *duration;
  for (auto& tap : taps) sources_.push_back({std::move(tap), {}});
}

CaptureStream::~CaptureStream() {
  if (!ended_) parts_.detach();
}

void CaptureStream::finish() {
  if (ended_) return;
  ended_ = parts_.clock.now();
  parts_.detach();
}

bool CaptureStream::take(std::string& out, std::size_t most) {
  if (!std::exchange(header_written_, true)) pcapng::begin(out, parts_.program, parts_.devices, snap_length_);
  const Instant now = parts_.clock.now();
  if (deadline_ && now >= *deadline_) finish();
  // Checked before the last drain, so that no frame can arrive after it.
  const bool last = ended_ && (parts_.detached() || now - *ended_ >= longest_farewell);
  drain(out, most);
  if (!last || !drained()) return true;
  end(out);
  return false;
}

void CaptureStream::drain(std::string& out, std::size_t most) {
  std::vector<Record> records;
  std::vector<std::size_t> read;
  for (Source& source : sources_) {
    source.tap->take(source.bytes, most / sources_.size());
    read.push_back(read_records(source.bytes, records));
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.header.at < b.header.at; });
  for (const Record& record : records) {
    pcapng::add_frame(out, record.header, wall_time(record.header.at), record.bytes,
                      comment_of(record.header.decision));
  }
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    auto& bytes = sources_[i].bytes;
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(read[i]));
  }
}

bool CaptureStream::drained() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const Source& source) { return source.tap->empty(); });
}

void CaptureStream::end(std::string& out) {
  std::array<WireCounts, wire_count> sum{};
  for (const Source& source : sources_) {
    const auto counts = source.tap->counts();
    for (std::size_t wire = 0; wire < wire_count; ++wire) sum.at(wire) += counts.at(wire);
  }
  for (std::size_t wire = 0; wire < wire_count; ++wire) {
    pcapng::add_statistics(out, wire, sum.at(wire), wall_time(begun_at_), wall_time(nanoseconds_of(*ended_)));
  }
}

}  // namespace sluice::capture
