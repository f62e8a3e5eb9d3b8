#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// A counter of any part of the program.
struct NamedCounter {
  std::string name;       ///< unique: "proxy.drop_tcp_checksum", "ports.radio.transmit_dropped"
  std::string_view text;  ///< what it counts; lives for ever
  std::uint64_t value = 0;
  bool alarming = false;  ///< somebody should be told when it grows
  std::string detail{};   ///< the newest case, for that warning
};

/// Turns counters that should stand still into warnings, each at most once per period however fast it grows. The data
/// path only counts; this is where it is heard.
class CounterWatch {
 public:
  explicit CounterWatch(Duration period) : period_(period) {}

  /// Looks at all counters at once; returns the sentences that are due now.
  [[nodiscard]] std::vector<std::string> look(const std::vector<NamedCounter>& counters, Instant now);

 private:
  struct Seen {
    std::uint64_t reported = 0;
    Instant quiet_until{};
  };
  Duration period_;
  std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace sluice::proxy
