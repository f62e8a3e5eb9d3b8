#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/flow_table.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/counters.hpp"

namespace sluice::proxy {

/// Stores why connections whose handshake was seen are not split, so that their segments are counted under that reason.
/// Each key maps to one set of four entries. In a full set the least recently used entry is replaced, and an entry that
/// is unused for `keep` is invalid. All memory is allocated at construction. Thread: its shard's.
class UnsplitConnections {
 public:
  /// Allocates at least `capacity` entries.
  UnsplitConnections(std::uint32_t capacity, Duration keep);

  /// Records the reason why the connection with this key is not split. `tag` is the hash tag of the key.
  void record(const flow::FlowKey& key, flow::KeyTag tag, Counter reason, Instant now);
  /// Removes the entry of a connection, if there is one, because a new connection with the same addresses is split.
  void forget(const flow::FlowKey& key, flow::KeyTag tag);
  /// Returns why the connection is not split, and marks the entry as used; nothing if unknown.
  [[nodiscard]] std::optional<Counter> find(const flow::FlowKey& key, flow::KeyTag tag, Instant now) {
    return any_ ? find_noted(key, tag, now) : std::nullopt;
  }

 private:
  /// Entry with the reason of one connection.
  struct Entry {
    flow::FlowKey key;
    Instant used = never;  ///< time of the last use; `never` if the entry is empty
    Counter reason{};
  };
  using Set = std::array<Entry, 4>;

  /// Looks up the connection's reason in the key's set of four entries.
  [[nodiscard, gnu::noinline]] std::optional<Counter> find_noted(const flow::FlowKey& key, flow::KeyTag tag,
                                                                 Instant now);
  /// Returns the set of four entries for a hash tag.
  [[nodiscard]] Set& set_of(flow::KeyTag tag);
  /// Returns the entry with this key, or null.
  [[nodiscard]] static Entry* entry_of(Set& set, const flow::FlowKey& key);

  std::vector<Set> sets_;
  Duration keep_;
  bool any_ = false;
};

}  // namespace sluice::proxy
