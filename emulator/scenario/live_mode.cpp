#include "emulator/scenario/live_mode.hpp"

#include <algorithm>

#include "proxy/yaml/scalar.hpp"

namespace sluice::emulator {
namespace {

/// Returns the configuration path of the feedback section of Node-B number `nodeb`.
std::string feedback_key(std::uint32_t nodeb) {
  return nodeb == 0 ? "live.feedback" : "nodebs[" + std::to_string(nodeb - 1) + "].feedback";
}

std::optional<LiveProblem> port_problem(const LiveSpec& live, RunMode mode) {
  const std::string in_mode = " in mode " + std::string(to_string(mode));
  if (mode.proxied && live.cell_core.empty()) {
    return LiveProblem{"live.cell_core", "a port towards the proxy" + in_mode, "none"};
  }
  if (mode.proxied && !live.hop_server.empty() && live.hop_proxy.empty()) {
    return LiveProblem{"live.hop_proxy", "a port towards the proxy's core port beside hop_server", "none"};
  }
  if (!mode.proxied && !live.cell_core.empty() && !live.cell_ue.empty() && live.hop_server.empty()) {
    return LiveProblem{"live.hop_server", "a port towards the servers" + in_mode + ", which bypasses the proxy",
                       "none"};
  }
  return std::nullopt;
}

}  // namespace

RunMode live_mode(const Scenario& scenario) {
  if (scenario.live.cell_core.empty()) return scenario.modes.front();
  const bool reports = scenario.live.feedback.has_value();
  const auto fits = [&](RunMode mode) { return mode.proxied && report_period(scenario, mode).has_value() == reports; };
  auto found = std::find_if(scenario.modes.begin(), scenario.modes.end(), fits);
  if (found != scenario.modes.end()) return *found;
  found = std::find_if(scenario.modes.begin(), scenario.modes.end(), [](RunMode mode) { return mode.proxied; });
  return found != scenario.modes.end() ? *found : RunMode::none;
}

const std::optional<config::FeedbackConfig>& live_feedback_of(const Scenario& scenario, std::uint32_t nodeb) {
  return nodeb == 0 ? scenario.live.feedback : scenario.nodebs[nodeb - 1].feedback;
}

std::optional<LiveProblem> live_problem(const Scenario& scenario, RunMode mode) {
  if (auto problem = port_problem(scenario.live, mode)) return problem;
  if (!report_period(scenario, mode)) return std::nullopt;
  const std::string in_mode = " in mode " + std::string(to_string(mode));
  for (std::uint32_t i = 0; i < scenario.nodeb_count(); ++i) {
    const auto& feedback = live_feedback_of(scenario, i);
    if (!feedback) return LiveProblem{feedback_key(i), "addresses and a key" + in_mode, "none"};
    if (feedback->peers.empty()) {
      return LiveProblem{feedback_key(i) + ".peers",
                         "the proxy's feedback.listen" + in_mode + ": the Node-B sends first", "none"};
    }
  }
  return std::nullopt;
}

std::string live_summary(const Scenario& scenario, RunMode mode) {
  const std::string name(to_string(mode));
  if (!mode.proxied) return "mode none: no proxy, no reports";
  const std::optional<Duration> period = report_period(scenario, mode);
  if (!period) return "mode " + name + ": no reports are sent";
  std::string peers;
  for (const config::SocketAddress& peer : live_feedback_of(scenario, 0)->peers) {
    peers += (peers.empty() ? "" : ", ") + config::Scalar<config::SocketAddress>::format(peer);
  }
  return "reports serve mode " + name + ", to " + peers + " every " + config::Scalar<Duration>::format(*period);
}

}  // namespace sluice::emulator
