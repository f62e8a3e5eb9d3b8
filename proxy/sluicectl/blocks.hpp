#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::sluicectl {

/// What a capture came to, by its blocks.
struct CaptureTotals {
  std::uint64_t frames = 0;
  bool complete = false;        ///< the statistics came, and with them:
  std::uint64_t lost = 0;       ///< frames that found no room in the program
  std::uint64_t looked_at = 0;  ///< frames that it received and sent meanwhile
};

/// Cuts a stream of pcapng into its blocks, so that only whole ones are written.
class Blocks {
 public:
  /// Takes more of the stream. The whole blocks that there are now; nothing when it is no pcapng.
  [[nodiscard]] std::optional<std::string> take(std::string_view bytes);
  [[nodiscard]] const CaptureTotals& totals() const { return totals_; }

 private:
  void count(std::string_view block);

  std::string rest_;
  CaptureTotals totals_;
};

}  // namespace sluice::sluicectl
