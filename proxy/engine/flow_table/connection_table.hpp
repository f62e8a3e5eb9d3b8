#pragma once

#include <cstdint>
#include <span>

#include "dataplane/flow/flow_table.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// Id of a connection in a shard, for split and for end-to-end connections.
using ConnectionId = std::uint32_t;

/// Lookup table of a shard from 5-tuple to connection. A flow has its own id in the table. An end-to-end connection has
/// an id above all flow ids. Address space is reserved at construction. Thread: the shard's.
class ConnectionTable {
 public:
  /// Reserves entries for `most` flows and `most` end-to-end connections. `secret` keys the hash, so that attackers
  /// cannot choose connections that collide.
  ConnectionTable(std::uint32_t most, const flow::HashKey& secret) : most_(most), table_(2 * most, secret) {}

  /// Returns the id of the connection with this key, or no_flow if there is none.
  [[nodiscard]] ConnectionId find(const flow::FlowKey& key) const { return table_.find(key); }
  [[nodiscard]] ConnectionId find(const flow::FlowKey& key, flow::KeyTag tag) const { return table_.find(key, tag); }
  [[nodiscard]] ConnectionId find(const flow::ShortKey& key, flow::KeyTag tag) const { return table_.find(key, tag); }
  /// Looks up the connections of a burst of packets. Writes their ids to `out` and the keyed hashes of their keys to
  /// `tags`.
  void find_burst(const flow::KeyBurst& keys, std::span<ConnectionId> out, std::span<std::uint32_t> tags) const {
    table_.lookup_burst(keys, out, tags);
  }
  /// Returns the version number of the table. While it is unchanged, the result of every earlier lookup is still valid,
  /// even of one that found no connection.
  [[nodiscard]] std::uint32_t changes() const { return table_.changes(); }
  /// Returns the number of removals from the table. While it is unchanged, every earlier lookup that found a connection
  /// is still valid.
  [[nodiscard]] std::uint32_t removals() const { return table_.removals(); }
  /// Returns the keyed hash of a key, which is the same in every table of the shard.
  [[nodiscard]] flow::KeyTag tag_of(const flow::FlowKey& key) const { return table_.tag_of(key); }
  [[nodiscard]] flow::KeyTag tag_of(const flow::ShortKey& key) const { return table_.tag_of(key); }

  /// True if the id belongs to a flow, which is a handshake or a split connection.
  [[nodiscard]] bool is_flow(ConnectionId id) const { return id < most_; }
  /// True if the id belongs to an end-to-end connection.
  [[nodiscard]] bool is_end_to_end(ConnectionId id) const { return id - most_ < most_; }
  /// Returns the id that an end-to-end connection has in its own table. Requires is_end_to_end(id).
  [[nodiscard]] EndToEndId end_to_end(ConnectionId id) const { return id - most_; }
  /// Inserts a flow under its key. Returns false if the key is already in the table.
  bool enter(const flow::FlowKey& key, flow::KeyTag tag, FlowId id) { return table_.insert(key, id, tag); }
  /// Inserts an end-to-end connection under its key. Returns false if the key is already in the table.
  bool enter_end_to_end(const flow::FlowKey& key, EndToEndId id) { return table_.insert(key, id + most_); }
  void erase(const flow::FlowKey& key) { table_.erase(key); }
  void erase_flow(FlowId id) { table_.erase_flow(id); }

  /// Returns the key of a flow.
  [[nodiscard]] flow::FlowKey key_of(FlowId id) const { return table_.key_of(id); }
  /// Returns a view of a flow's key for writing packet headers. `ip_version` must be the IP version of the flow.
  [[nodiscard]] flow::KeyView view_of(FlowId id, std::uint8_t ip_version) const {
    return table_.view_of(id, ip_version);
  }

 private:
  std::uint32_t most_;
  flow::FlowTable table_;
};

}  // namespace sluice::proxy
