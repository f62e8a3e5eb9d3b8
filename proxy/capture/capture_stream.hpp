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
#include "proxy/admin/byte_stream.hpp"
#include "proxy/capture/frame_tap.hpp"

namespace sluice::capture {

/// Where the time comes from.
struct Clock {
  std::function<Instant()> now;         ///< that of the shards
  std::function<std::uint64_t()> wall;  ///< nanoseconds since 1970
};

/// One capture as its client reads it: pcapng, from the taps of all shards in the order of time. It ends when its time
/// is over, or the client wants no more, with what was lost. Thread: the control thread.
class CaptureStream final : public admin::ByteStream {
 public:
  struct Parts {
    std::string program;                 ///< as the file names it
    std::array<std::string, 2> devices;  ///< by Side
    Clock clock;
    std::function<void()> detach;    ///< the shards are to leave the taps alone
    std::function<bool()> detached;  ///< they do
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
    std::vector<std::uint8_t> bytes;  ///< taken, and not written yet
  };
  void drain(std::string& out, std::size_t most);
  void end(std::string& out);
  [[nodiscard]] bool drained() const;
  [[nodiscard]] std::uint64_t wall_time(std::int64_t at) const { return static_cast<std::uint64_t>(at + to_wall_); }

  Parts parts_;
  std::vector<Source> sources_;
  std::uint32_t snap_length_;
  std::int64_t begun_at_;
  std::int64_t to_wall_;  ///< what the shards' clock is behind the other, once for all: no frame goes back in time
  std::optional<Instant> deadline_;
  std::optional<Instant> ended_;  ///< when it was to end
  bool introduced_ = false;
};

}  // namespace sluice::capture
