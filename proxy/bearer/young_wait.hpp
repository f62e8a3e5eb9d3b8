#pragma once

#include <chrono>
#include <cstdint>

#include "dataplane/tcp/tick.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Until when somebody waits for a connection of a UE that is young. Thread: the shard's.
class YoungWait {
 public:
  /// One begins, or goes on.
  void begin(Instant now) { until_ = tcp::tick::fine(now) + tcp::tick::fine(patience); }
  void end(Instant now) { until_ = tcp::tick::fine(now) - 1; }
  [[nodiscard]] bool lasts(Instant now) const { return until_ - tcp::tick::fine(now) <= tcp::tick::fine(patience); }

 private:
  /// Who has heard nothing for so long sends its first segment again (RFC 6298 section 2): what comes later is waited
  /// for by itself, and not for a queue.
  static constexpr Duration patience = std::chrono::seconds(1);

  std::uint32_t until_ = 0;  ///< tick::fine
};

}  // namespace sluice::proxy
