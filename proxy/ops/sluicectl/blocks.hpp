#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::sluicectl {

/// Counts of the frames in a capture, derived from the blocks of its pcapng stream.
struct CaptureTotals {
  std::uint64_t frames = 0;
  /// true if the statistics blocks at the end of the stream were received; the counts `lost` and `selected` are valid
  /// only then
  bool complete = false;
  std::uint64_t lost = 0;  ///< number of frames that were lost because the program's ring was full
  /// number of frames that the capture's filter selected; includes the lost ones
  std::uint64_t selected = 0;
};

/// Splits a received pcapng stream into blocks, so that only complete blocks are written to the output.
class Blocks {
 public:
  /// Adds received bytes of the stream. Returns the blocks that are complete now, or nothing if the stream is not
  /// pcapng.
  [[nodiscard]] std::optional<std::string> take(std::string_view bytes);
  [[nodiscard]] const CaptureTotals& totals() const { return totals_; }

 private:
  void count(std::string_view block);

  std::string rest_;
  CaptureTotals totals_;
};

}  // namespace sluice::sluicectl
