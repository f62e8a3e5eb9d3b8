#pragma once

#include <array>
#include <memory>
#include <string>

struct nft_ctx;

namespace sluice::proxy {

/// Keeps a bridge from carrying anything, for as long as the process lives at most. While it is shut a table of
/// nftables drops every frame that comes in on the bridge's interfaces, behind where packet sockets see it. The table
/// belongs to this process (`flags owner`): the kernel removes it when the process ends, however it ends, and nobody
/// else can. Needs CAP_NET_ADMIN. Thread: one.
class BridgeGate {
 public:
  using Interfaces = std::array<std::string, 2>;

  /// `number` tells its tables from those of other bridges in this network namespace.
  BridgeGate(unsigned number, Interfaces interfaces);

  /// Has the host itself neither hear nor say anything through the bridge, in a table that stays: a cable has no
  /// addresses. Throws std::runtime_error.
  void isolate_host() const;
  /// Throws std::runtime_error, with the name of the table, where another process keeps this bridge shut.
  void shut();
  /// Shuts it anew where an interface was made again. Nothing passes meanwhile. Throws std::runtime_error.
  void shut_again();
  void open();
  [[nodiscard]] bool is_shut() const { return rules_ != nullptr; }

 private:
  struct Free {
    void operator()(nft_ctx* rules) const;
  };
  using Rules = std::unique_ptr<nft_ctx, Free>;
  static Rules begin();
  static void run(nft_ctx& rules, const std::string& commands);
  [[nodiscard]] std::string closed_table() const;

  std::string table_;
  Interfaces interfaces_;
  Rules rules_;  ///< the table is this one's: it goes with its socket
};

}  // namespace sluice::proxy
