#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Detects that no Node-B sends reports although a mode needs them. Thread: the control thread.
class ReportWatch {
 public:
  /// Time without reports that is tolerated, which is far above their period.
  static constexpr Duration limit = std::chrono::seconds(1);

  enum class Event : std::uint8_t {
    none,
    silent,         ///< no report for `limit`; returned once
    received_again  ///< reports arrive again after `silent` was returned
  };
  /// Returns what changed since the last call. `needed` is true if the active policies need reports; `accepted`
  /// counts the messages of Node-Bs so far. Called about once a second.
  [[nodiscard]] Event look(bool needed, std::uint64_t accepted, Instant now);
  /// Returns the time since the last report, or at received_again the length of the gap. Zero while no reports are
  /// needed.
  [[nodiscard]] Duration silence() const { return silence_; }

 private:
  Instant quiet_since_ = never;  ///< time of the last report; `never` while none are needed
  std::uint64_t accepted_ = 0;
  bool told_ = false;
  Duration silence_{};
};

}  // namespace sluice::proxy
