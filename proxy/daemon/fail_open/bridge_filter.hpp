#pragma once

#include <array>
#include <memory>
#include <string>

struct nft_ctx;

namespace sluice::proxy {

/// Blocks a bridge while this process lives. An nftables table then drops every frame that arrives on the bridge's
/// interfaces, after packet sockets have received it. The process owns the table (`flags owner`). So the kernel removes
/// it when the process ends, and no other process can. Needs CAP_NET_ADMIN. Thread: one.
class BridgeFilter {
 public:
  using Interfaces = std::array<std::string, 2>;

  /// Prepares the filter of the bridge between `interfaces`; the bridge forwards frames until shut(). `number`
  /// distinguishes the filter's tables from those of other bridges in this network namespace.
  BridgeFilter(unsigned number, Interfaces interfaces);

  /// Blocks traffic of the host itself through the bridge, so that the bridge behaves like a cable. The nftables table
  /// for that remains after the process ends. Throws std::runtime_error.
  void isolate_host() const;
  /// Blocks the bridge. Throws std::runtime_error with the table's name if another process blocks this bridge.
  void shut();
  /// Blocks the bridge again after an interface was recreated. The bridge forwards nothing in between. Throws
  /// std::runtime_error.
  void shut_again();
  /// Removes the table that drops frames, so that the bridge forwards them.
  void open();
  [[nodiscard]] bool is_shut() const { return rules_ != nullptr; }

 private:
  struct Free {
    void operator()(nft_ctx* rules) const;
  };
  using Rules = std::unique_ptr<nft_ctx, Free>;
  static Rules begin();
  static void run(nft_ctx& rules, const std::string& commands);
  /// Returns the nftables commands that create the table which drops all frames of the bridge.
  [[nodiscard]] std::string closed_table() const;

  std::string table_;
  Interfaces interfaces_;
  Rules rules_;  ///< nftables context whose socket owns the table; closing it removes the table
};

}  // namespace sluice::proxy
