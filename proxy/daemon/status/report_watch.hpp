#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Detects that no Node-B sends reports although a mode needs them. Thread: the control thread.
class ReportWatch {
 public:
  /// Longest tolerated time without reports, which is far above the report period.
  static constexpr Duration limit = std::chrono::seconds(1);

  enum class Event : std::uint8_t {
    none,
    silent,         ///< no report was received for `limit`; returned once
    received_again  ///< reports arrive again after `silent` was returned
  };
  /// Returns what has happened since the last call. `needed` is true if the active policies need reports of Node-Bs;
  /// `accepted` counts the messages of Node-Bs so far. Called about once a second.
  [[nodiscard]] Event look(bool needed, std::uint64_t accepted, Instant now);
  /// Returns the time since the last report of a Node-B. After the event `received_again`, returns how long reports
  /// were missing. Zero while no reports are needed.
  [[nodiscard]] Duration silence() const { return silence_; }

 private:
  Instant quiet_since_ = never;  ///< time of the last report; `never` while no reports are needed
  std::uint64_t accepted_ = 0;
  bool silence_reported_ = false;
  Duration silence_{};
};

}  // namespace sluice::proxy
