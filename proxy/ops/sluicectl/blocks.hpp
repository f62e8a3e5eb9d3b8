#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::sluicectl {

/// Totals of a capture, counted from its blocks.
struct CaptureTotals {
  std::uint64_t frames = 0;
  bool complete = false;        ///< True if the statistics blocks arrived, which give the next two
  std::uint64_t lost = 0;       ///< frames lost because the program's ring was full
  std::uint64_t looked_at = 0;  ///< frames that the program received and sent meanwhile
};

/// Splits a pcapng stream into blocks, so that only complete ones are written.
class Blocks {
 public:
  /// Accepts more bytes of the stream and returns the blocks that are complete now. Returns nothing if it is not
  /// pcapng.
  [[nodiscard]] std::optional<std::string> take(std::string_view bytes);
  [[nodiscard]] const CaptureTotals& totals() const { return totals_; }

 private:
  void count(std::string_view block);

  std::string rest_;
  CaptureTotals totals_;
};

}  // namespace sluice::sluicectl
