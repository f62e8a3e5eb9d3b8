#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/ops/admin/byte_stream.hpp"
#include "proxy/ops/capture/frame_tap.hpp"

namespace sluice::capture {

/// Clocks of a capture: that of the shards, and the wall clock.
struct Clock {
  std::function<Instant()> now;         ///< returns the time of the shards' clock
  std::function<std::uint64_t()> wall;  ///< returns the wall-clock time in nanoseconds since 1970
};

/// Byte stream of one capture in pcapng format. The frames of all shards' taps (rings with copies of frames) are merged
/// by time. The stream ends after the requested duration or at the client's request, and then reports lost frames.
/// Thread: the control thread.
class CaptureStream final : public admin::ByteStream {
 public:
  struct Parts {
    std::string program;                 ///< name of the program, which is written into the capture
    std::array<std::string, 2> devices;  ///< names of the ports' devices, indexed by Side
    Clock clock;
    std::function<void()> detach;    ///< makes the shards stop using the capture's taps (rings for frames)
    std::function<bool()> detached;  ///< returns true if no shard uses the capture's taps (rings for frames) any more
  };
  CaptureStream(Parts parts, std::vector<std::shared_ptr<FrameTap>> taps, std::optional<Duration> duration);
  ~CaptureStream() override;
  CaptureStream(const CaptureStream&) = delete;
  CaptureStream& operator=(const CaptureStream&) = delete;

  bool take(std::string& out, std::size_t most) override;
  void finish() override;

 private:
  struct Source {
    std::shared_ptr<FrameTap> tap;
    /// Bytes that were read from the tap (ring with the frames of one shard) and were not written to the stream yet.
    std::vector<std::uint8_t> bytes;
  };
  /// Moves all complete frames that are available from the taps to `out`, sorted by time. Reads at most `most` bytes
  /// from the taps. `out` may get more, because the pcapng format adds bytes.
  void drain(std::string& out, std::size_t most);
  /// Appends the statistics blocks (numbers of frames received, captured and lost) that end the capture.
  void end(std::string& out);
  [[nodiscard]] bool drained() const;
  [[nodiscard]] std::uint64_t wall_time(std::int64_t at) const { return static_cast<std::uint64_t>(at + to_wall_); }

  Parts parts_;
  std::vector<Source> sources_;
  std::uint32_t snap_length_;
  std::int64_t begun_at_;
  /// wall-clock time minus the shards' clock; measured only once, so that timestamps never decrease
  std::int64_t to_wall_;
  std::optional<Instant> deadline_;
  std::optional<Instant> ended_;  ///< time at which the end of the capture was requested; not set before
  bool header_written_ = false;
};

}  // namespace sluice::capture
