// Kernel bridge that forwards frames while the proxy does not run. FailOpenMonitor creates it, shuts it while the proxy
// works and calls maintain() once a second. Invariant: either the process or the bridge forwards frames, so that a
// crash leaves an open bridge and no loop forms.
#include "proxy/daemon/fail_open/fail_open_bridge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace sluice::proxy {
namespace {

/// Maximum number of fail-open bridges in one network namespace.
constexpr int max_bridges = 1000;

[[nodiscard]] NetworkLink require(BridgeLinks& links, const std::string& name) {
  const auto link = links.find(name);
  if (!link) throw std::runtime_error("there is no interface " + name);
  return *link;
}

}  // namespace

FailOpenBridge::FailOpenBridge(Interfaces interfaces) try
    : interfaces_(std::move(interfaces)), filter_(find_or_make().index, interfaces_) {
  filter_.isolate_host();
  set_up_bridge();
} catch (const std::runtime_error& problem) {
  throw std::runtime_error(std::string("fail_open: ") + problem.what());
}

NetworkLink FailOpenBridge::find_or_make() {
  const std::array ports{require(links_, interfaces_[0]), require(links_, interfaces_[1])};
  if (ports[0].master != 0 || ports[1].master != 0) {
    NetworkLink bridge = existing_bridge(ports);
    name_ = bridge.name;
    return bridge;
  }
  for (int number = 0; number < max_bridges; ++number) {
    name_ = fmt::format("sluice{}", number);
    if (links_.make(name_)) return require(links_, name_);
  }
  throw std::runtime_error("there are bridges sluice0 to " + name_ + "; remove unused ones");
}

NetworkLink FailOpenBridge::existing_bridge(const std::array<NetworkLink, 2>& ports) {
  const std::vector<NetworkLink> links = links_.all();
  const unsigned master = std::max(ports[0].master, ports[1].master);
  const auto bridge = std::find_if(links.begin(), links.end(), [&](const auto& link) { return link.index == master; });
  for (const NetworkLink& port : ports) {
    if (port.master == master || port.master == 0) continue;
    throw std::runtime_error(
        fmt::format("{} and {} are members of two different bridges; run: ip link set dev {} nomaster", interfaces_[0],
                    interfaces_[1], port.name));
  }
  if (bridge == links.end() || bridge->kind != "bridge")
    throw std::runtime_error(
        fmt::format("{} or {} is a member of an interface that is no bridge", interfaces_[0], interfaces_[1]));
  for (const NetworkLink& link : links) {
    if (link.master != master || link.index == ports[0].index || link.index == ports[1].index) continue;
    throw std::runtime_error(fmt::format(
        "{} has another member, {}: the bridge stands for a cable between {} and {} alone; run: ip link set dev {} "
        "nomaster",
        bridge->name, link.name, interfaces_[0], interfaces_[1], link.name));
  }
  return *bridge;
}

void FailOpenBridge::set_up_bridge() {
  const NetworkLink bridge = require(links_, name_);
  links_.configure_as_wire(bridge.index);
  links_.switch_on(bridge.index);
  for (const std::string& interface : interfaces_) links_.add(require(links_, interface).index, bridge.index);
}

bool FailOpenBridge::is_whole() {
  const auto bridge = links_.find(name_);
  return bridge && bridge->up && std::all_of(interfaces_.begin(), interfaces_.end(), [&](const auto& name) {
           return require(links_, name).master == bridge->index;
         });
}

std::string FailOpenBridge::warning() {
  for (const std::string key : {"bridge-nf-call-iptables", "bridge-nf-call-ip6tables"}) {
    std::ifstream file("/proc/sys/net/bridge/" + key);
    if (char value = '0'; file >> value && value != '0')
      return fmt::format("net.bridge.{} is {}: this host's firewall filters frames on the bridge", key, value);
  }
  return {};
}

std::string FailOpenBridge::maintain() {
  const std::string before = std::exchange(problem_, std::string());
  try {
    if (is_whole()) return {};
    // A recreated interface is blocked before it joins the bridge.
    if (filter_.is_shut()) filter_.shut_again();
    static_cast<void>(links_.make(name_));
    set_up_bridge();
    ++repairs_;
    return fmt::format("fail_open: {} and {} were added to the bridge {} again", interfaces_[0], interfaces_[1], name_);
  } catch (const std::runtime_error& problem) {
    problem_ = problem.what();
    return problem_ == before ? std::string() : "fail_open: no fallback is ready: " + problem_;
  }
}

}  // namespace sluice::proxy
