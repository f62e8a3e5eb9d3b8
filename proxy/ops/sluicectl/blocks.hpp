#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::sluicectl {

/// Numbers of frames in a capture, counted from its pcapng blocks.
struct CaptureTotals {
  std::uint64_t frames = 0;
  bool complete = false;        ///< true if the statistics blocks, which contain `lost` and `looked_at`, were received
  std::uint64_t lost = 0;       ///< frames lost because the program's ring was full
  std::uint64_t looked_at = 0;  ///< frames that the program received and sent during the capture
};

/// Splits a pcapng stream into blocks, so that only complete blocks are written to the output.
class Blocks {
 public:
  /// Adds received bytes of the stream and returns the blocks that are complete now. Returns nothing if the stream is
  /// not pcapng.
  [[nodiscard]] std::optional<std::string> take(std::string_view bytes);
  [[nodiscard]] const CaptureTotals& totals() const { return totals_; }

 private:
  void count(std::string_view block);

  std::string rest_;
  CaptureTotals totals_;
};

}  // namespace sluice::sluicectl
