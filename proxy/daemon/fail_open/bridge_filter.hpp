#pragma once

#include <array>
#include <memory>
#include <string>

struct nft_ctx;

namespace sluice::proxy {

/// Stops a kernel bridge from forwarding while this process lives. For this, an nftables table drops every frame that
/// arrives on the bridge's interfaces. Packet sockets receive the frame before it is dropped, so this process still
/// receives it. The process owns the table (`flags owner`), so the kernel removes the table when the process ends, and
/// no other process can remove it. Needs CAP_NET_ADMIN. Thread: one.
class BridgeFilter {
 public:
  using Interfaces = std::array<std::string, 2>;

  /// Prepares the filter of the bridge between `interfaces`. The bridge forwards frames until shut() is called.
  /// `number` makes the table names unique among the bridges of this network namespace.
  BridgeFilter(unsigned number, Interfaces interfaces);

  /// Drops the frames that the host itself sends or receives through the bridge, so that the bridge only connects its
  /// two interfaces. The nftables table for this remains after the process ends. Throws std::runtime_error.
  void isolate_host() const;
  /// Stops the bridge from forwarding. Throws std::runtime_error with the table's name if another process already does
  /// this.
  void shut();
  /// Blocks the bridge again after one of its interfaces was recreated. The bridge forwards no frame while this call
  /// replaces the nftables table. Throws std::runtime_error.
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
  /// Returns the nftables commands that create the table that drops all frames of the bridge.
  [[nodiscard]] std::string closed_table() const;

  std::string table_;
  Interfaces interfaces_;
  Rules rules_;  ///< nftables context; its socket owns the table, so closing it removes the table
};

}  // namespace sluice::proxy
