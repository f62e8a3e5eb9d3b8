#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "proxy/fail_open/bridge_gate.hpp"
#include "proxy/fail_open/bridge_links.hpp"

namespace sluice::proxy {

/// What carries the frames of two kernel interfaces when this process does not: a bridge over both, which stays when
/// the process ends. While shut() holds, the bridge carries nothing and the process sees every frame; so each frame is
/// carried by one of the two. However the process ends, the bridge is open then. Needs CAP_NET_ADMIN. Thread: one.
class FailOpenBridge {
 public:
  using Interfaces = BridgeGate::Interfaces;

  /// Makes the bridge, named sluice0 or the next that is free, or takes up the one that both are in already. It is open
  /// until shut(). Throws std::runtime_error saying why it cannot be, and what to do.
  explicit FailOpenBridge(Interfaces interfaces);

  /// Nothing passes the bridge any more: from now on each frame that comes in is the process's alone. Those that came
  /// in before were the bridge's too. Throws std::runtime_error.
  void shut() { gate_.shut(); }
  /// The bridge carries every frame; nobody else may any more.
  void open() { gate_.open(); }

  /// Looks whether both interfaces are in the bridge, and puts back what was taken out or made again. Returns what the
  /// log should say of that, or nothing. To be called about once a second.
  [[nodiscard]] std::string maintain();

  /// What of this host may judge the frames that the bridge carries; empty where nothing does.
  [[nodiscard]] static std::string warning();

  [[nodiscard]] const std::string& name() const { return name_; }
  /// What keeps the bridge from taking over; empty where nothing does.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// How often something was put back.
  [[nodiscard]] std::uint64_t repairs() const { return repairs_; }

 private:
  /// The bridge, made where there is none.
  [[nodiscard]] NetworkLink find_or_make();
  [[nodiscard]] NetworkLink joined_already(const std::array<NetworkLink, 2>& ports);
  void put_together();
  [[nodiscard]] bool is_whole();

  Interfaces interfaces_;
  BridgeLinks links_;
  std::string name_;
  BridgeGate gate_;
  std::string problem_;
  std::uint64_t repairs_ = 0;
};

}  // namespace sluice::proxy
