// A trace of decisions may come from anywhere: it is refused with the line and what was expected there, or the laws of
// it are made and asked, and whatever they are told they come to the same a second time.

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include "control/decision_log/replay.hpp"

namespace {

using namespace sluice::control;

ReplayTotals replayed(std::string_view text, const std::vector<Replay::Change>& changes) {
  Replay replay([](const Replay::Difference&) {}, changes);
  replay.take(R"({"sluice_trace":1})");
  try {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      replay.take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } catch (const ReplayError& problem) {
    if (!std::string_view(problem.what()).starts_with("line ")) std::abort();
  }
  return replay.totals();
}

auto numbers(const ReplayTotals& totals) {
  return std::tuple(totals.decisions, totals.laws, totals.differing, totals.unknown, totals.lost, totals.complete);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (numbers(replayed(text, {})) != numbers(replayed(text, {}))) std::abort();
  replayed(text, {{"gain", "1.5"}, {"clamp.rate_packets", "3"}, {"one_way_delay", "3ms"}, {"segment", "1"}});
  return 0;
}
