#include "proxy/daemon/fail_open/bridge_filter.hpp"

#include <fmt/format.h>
#include <nftables/libnftables.h>

#include <stdexcept>
#include <utility>

namespace sluice::proxy {
namespace {

/// Priority of the nftables ingress hook of the filter. The value is so low that this hook runs before the hooks of
/// other filters on the interface.
constexpr int before_others = -500;

}  // namespace

BridgeFilter::BridgeFilter(unsigned number, Interfaces interfaces)
    : table_(fmt::format("sluice_{}", number)), interfaces_(std::move(interfaces)) {}

void BridgeFilter::Free::operator()(nft_ctx* rules) const {
  nft_ctx_free(rules);
}

BridgeFilter::Rules BridgeFilter::begin() {
  Rules rules(nft_ctx_new(NFT_CTX_DEFAULT));
  // Messages are captured for our exceptions instead of written to the terminal.
  if (!rules || nft_ctx_buffer_output(rules.get()) != 0 || nft_ctx_buffer_error(rules.get()) != 0)
    throw std::runtime_error("nftables is not available");
  return rules;
}

void BridgeFilter::run(nft_ctx& rules, const std::string& commands) {
  const bool done = nft_run_cmd_from_buffer(&rules, commands.c_str()) == 0;
  const std::string message = nft_ctx_get_error_buffer(&rules);
  nft_ctx_get_output_buffer(&rules);
  if (!done) throw std::runtime_error("nftables: " + message.substr(0, message.find('\n')));
}

void BridgeFilter::isolate_host() const {
  run(*begin(), fmt::format(R"(add table bridge {0}
delete table bridge {0}
table bridge {0} {{
  chain input {{ type filter hook input priority 0; policy accept; iifname {{ "{1}", "{2}" }} drop; }}
  chain output {{ type filter hook output priority 0; policy accept; oifname {{ "{1}", "{2}" }} drop; }}
}}
)",
                            table_, interfaces_[0], interfaces_[1]));
}

std::string BridgeFilter::closed_table() const {
  return fmt::format(R"(create table netdev {0} {{ flags owner; }}
add chain netdev {0} closed {{ type filter hook ingress devices = {{ "{1}", "{2}" }} priority {3}; policy drop; }}
)",
                     table_, interfaces_[0], interfaces_[1], before_others);
}

void BridgeFilter::shut() {
  Rules rules = begin();
  try {
    run(*rules, closed_table());
  } catch (const std::runtime_error& problem) {
    throw std::runtime_error(fmt::format(
        "{}; if 'nft list tables netdev' shows {}, another program blocks the bridge of these ports: stop it first",
        problem.what(), table_));
  }
  rules_ = std::move(rules);
}

void BridgeFilter::shut_again() {
  run(*rules_,
      fmt::format("add table netdev {0} {{ flags owner; }}\ndelete table netdev {0}\n", table_) + closed_table());
}

void BridgeFilter::open() {
  rules_.reset();
}

}  // namespace sluice::proxy
