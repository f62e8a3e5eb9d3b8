#pragma once

#include <cstdint>
#include <span>

#include "dataplane/flow/flow_table.hpp"
#include "proxy/flows/flow.hpp"

namespace sluice::proxy {

/// A connection of a shard, whichever way it passes.
using ConnectionId = std::uint32_t;

/// Who the connections of a shard are: flows by their own ids, those that pass end to end by ids behind all of these.
/// Address space is taken at construction. Thread: the shard's.
class ConnectionTable {
 public:
  /// `most`: flows, and as many connections end to end. `secret` keeps outsiders from choosing connections that
  /// collide.
  ConnectionTable(std::uint32_t most, const flow::HashKey& secret) : most_(most), table_(2 * most, secret) {}

  /// no_flow where it is none.
  [[nodiscard]] ConnectionId find(const flow::FlowKey& key) const { return table_.find(key); }
  [[nodiscard]] ConnectionId find(const flow::FlowKey& key, flow::KeyTag tag) const { return table_.find(key, tag); }
  [[nodiscard]] ConnectionId find(const flow::ShortKey& key, flow::KeyTag tag) const { return table_.find(key, tag); }
  void find_burst(const flow::KeyBurst& keys, std::span<ConnectionId> out, std::span<std::uint32_t> tags) const {
    table_.lookup_burst(keys, out, tags);
  }
  /// While this number stands, what was found is still so, and what was not.
  [[nodiscard]] std::uint32_t changes() const { return table_.changes(); }
  /// While this number stands, what was found is.
  [[nodiscard]] std::uint32_t removals() const { return table_.removals(); }
  /// Where a key goes in every table of the shard.
  [[nodiscard]] flow::KeyTag tag_of(const flow::FlowKey& key) const { return table_.tag_of(key); }
  [[nodiscard]] flow::KeyTag tag_of(const flow::ShortKey& key) const { return table_.tag_of(key); }

  [[nodiscard]] bool is_flow(ConnectionId id) const { return id < most_; }
  [[nodiscard]] bool is_end_to_end(ConnectionId id) const { return id - most_ < most_; }
  [[nodiscard]] EndToEndId end_to_end(ConnectionId id) const { return id - most_; }
  /// From now on the connection is found as this one; false when it is another already.
  bool enter(const flow::FlowKey& key, flow::KeyTag tag, FlowId id) { return table_.insert(key, id, tag); }
  bool enter_end_to_end(const flow::FlowKey& key, EndToEndId id) { return table_.insert(key, id + most_); }
  void erase(const flow::FlowKey& key) { table_.erase(key); }
  void erase_flow(FlowId id) { table_.erase_flow(id); }

  /// Who the flow is.
  [[nodiscard]] flow::FlowKey key_of(FlowId id) const { return table_.key_of(id); }
  /// The same for who writes it into packets of that IP version, which is the flow's.
  [[nodiscard]] flow::KeyView view_of(FlowId id, std::uint8_t ip_version) const {
    return table_.view_of(id, ip_version);
  }

 private:
  std::uint32_t most_;
  flow::FlowTable table_;
};

}  // namespace sluice::proxy
