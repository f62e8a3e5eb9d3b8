#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "control/decision_log/decision_log.hpp"
#include "control/decision_log/replay.hpp"

namespace sluice::control {

/// Keeps the lines: all of them, or those for which `takes` returns that there is space.
class Recorded final : public LineSink {
 public:
  std::function<bool()> takes = [] { return true; };

  bool put(std::string_view line) override {
    if (!takes()) return false;
    lines.emplace_back(line.substr(0, line.size() - 1));  // without its end
    return true;
  }

  std::vector<std::string> lines;
};

inline const IpAddress ue = IpAddress::v4(10, 0, 0, 2);

/// Replays a trace with these changes and returns the totals.
inline ReplayTotals replayed(const std::vector<std::string>& lines, const std::vector<Replay::Change>& changes = {}) {
  Replay replay([](const Replay::Difference&) {}, changes);
  replay.take(R"({"sluice_trace":1})");
  for (const std::string& line : lines) replay.take(line);
  return replay.totals();
}

}  // namespace sluice::control
