#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Detects that no Node-B sends reports although a mode of the proxy needs them. Thread: the control thread.
class ReportWatch {
 public:
  /// Time without Node-B reports after which the reports count as missing. It is 200 times the default interval of
  /// reports, 5 ms. The value does not depend on the configured interval.
  static constexpr Duration limit = std::chrono::seconds(1);

  enum class Event : std::uint8_t {
    none,
    silent,         ///< no Node-B report was received for the time `limit`; returned once per interruption
    received_again  ///< Node-B reports are received again, after `silent` was returned
  };
  /// Returns the event since the last call. `needed` is true if the active policies need reports of Node-Bs. `accepted`
  /// is the number of messages from Node-Bs so far. Must be called about once a second.
  [[nodiscard]] Event look(bool needed, std::uint64_t accepted, Instant now);
  /// Returns the time since the last report of a Node-B, as of the last call of look(); zero while no reports are
  /// needed. If that call returned `received_again`, returns for how long reports were missing.
  [[nodiscard]] Duration silence() const { return silence_; }

 private:
  /// Time of the last call of look() with a new Node-B report, or of the first call at which reports were needed;
  /// `never` while no policy needs reports.
  Instant quiet_since_ = never;
  std::uint64_t accepted_ = 0;
  bool silence_reported_ = false;
  Duration silence_{};
};

}  // namespace sluice::proxy
