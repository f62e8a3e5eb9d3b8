#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "proxy/daemon/fail_open/bridge_filter.hpp"
#include "proxy/daemon/fail_open/bridge_links.hpp"

namespace sluice::proxy {

/// Kernel bridge over two interfaces that forwards frames while this process does not. After shut() the bridge forwards
/// nothing, and the process receives every frame. When the process ends, in whatever way, the bridge forwards frames
/// again. Needs CAP_NET_ADMIN. Thread: one.
class FailOpenBridge {
 public:
  using Interfaces = BridgeFilter::Interfaces;

  /// Creates the bridge, named sluice0 or with the next free number, or reuses the one that already joins the
  /// interfaces. The bridge forwards frames until shut(). Throws std::runtime_error with the reason and the remedy.
  explicit FailOpenBridge(Interfaces interfaces);

  /// Stops the bridge from forwarding. From now on only the process forwards frames; earlier frames were also forwarded
  /// by the bridge. Throws std::runtime_error.
  void shut() { filter_.shut(); }
  /// Lets the bridge forward every frame; the process must no longer forward any.
  void open() { filter_.open(); }

  /// Checks that both interfaces belong to the bridge, and adds an interface that was removed or recreated. Returns a
  /// text for the log, or nothing. Called about once a second.
  [[nodiscard]] std::string maintain();

  /// Returns a warning if the host's firewall may filter frames on the bridge, else an empty text.
  [[nodiscard]] static std::string warning();

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns why the bridge could not forward frames if the process ended, or an empty text.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Returns how often the bridge or its interfaces were restored.
  [[nodiscard]] std::uint64_t repairs() const { return repairs_; }

 private:
  /// Returns the bridge, and creates it if there is none.
  [[nodiscard]] NetworkLink find_or_make();
  /// Returns the bridge that both ports belong to. Throws if they belong to different bridges, or if the bridge has
  /// other members.
  [[nodiscard]] NetworkLink joined_already(const std::array<NetworkLink, 2>& ports);
  /// Configures the bridge, switches it on and adds both interfaces.
  void put_together();
  /// True if the bridge is switched on and both interfaces belong to it.
  [[nodiscard]] bool is_whole();

  Interfaces interfaces_;
  BridgeLinks links_;
  std::string name_;
  BridgeFilter filter_;
  std::string problem_;
  std::uint64_t repairs_ = 0;
};

}  // namespace sluice::proxy
