#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "proxy/daemon/fail_open/bridge_filter.hpp"
#include "proxy/daemon/fail_open/bridge_links.hpp"

namespace sluice::proxy {

/// Kernel bridge over two interfaces that forwards frames in place of this process. After shut() the bridge forwards
/// nothing, and the process receives every frame. However the process ends, the bridge then forwards frames again.
/// Needs CAP_NET_ADMIN. Thread: one.
class FailOpenBridge {
 public:
  using Interfaces = BridgeFilter::Interfaces;

  /// Creates a bridge of the two interfaces, named sluice0 or with the next free number. Reuses a bridge that already
  /// joins them. The bridge forwards frames until shut() is called. Throws std::runtime_error with the reason and the
  /// remedy.
  explicit FailOpenBridge(Interfaces interfaces);

  /// Stops the bridge from forwarding, so that only this process forwards frames. Frames that arrived before the call
  /// were forwarded by the bridge. Throws std::runtime_error.
  void shut() { filter_.shut(); }
  /// Makes the bridge forward every frame. This process must no longer forward any.
  void open() { filter_.open(); }

  /// Checks that both interfaces are members of the bridge, and adds an interface that was removed or recreated.
  /// Returns a text for the log about what changed, or an empty text. Called about once a second.
  [[nodiscard]] std::string maintain();

  /// Returns a warning if the host's firewall may filter frames on the bridge, else an empty text.
  [[nodiscard]] static std::string warning();

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns the reason why the bridge would not forward frames if this process ended now. Empty if the bridge would
  /// forward them.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Returns how often the bridge or its interfaces were restored.
  [[nodiscard]] std::uint64_t repairs() const { return repairs_; }

 private:
  /// Returns the bridge, and creates it if there is none.
  [[nodiscard]] NetworkLink find_or_make();
  /// Returns the bridge of which one or both interfaces are members. Throws if they are members of different bridges or
  /// of no bridge (such as a bond), or if the bridge has other members.
  [[nodiscard]] NetworkLink existing_bridge(const std::array<NetworkLink, 2>& ports);
  /// Configures the bridge, sets it up and adds both interfaces.
  void set_up_bridge();
  /// True if the bridge is up and both interfaces are members of it.
  [[nodiscard]] bool is_whole();

  Interfaces interfaces_;
  BridgeLinks links_;
  std::string name_;
  BridgeFilter filter_;
  std::string problem_;
  std::uint64_t repairs_ = 0;
};

}  // namespace sluice::proxy
