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

/// Stores the reason why each connection is not split although its handshake was seen. Later segments of the connection
/// are counted under that reason. The key of a connection selects a set of four entries. If the set is full, the least
/// recently used entry is replaced. An entry that is not used for the time given to the constructor becomes invalid.
/// All memory is allocated at construction. Thread: the shard's.
class UnsplitConnections {
 public:
  /// Allocates at least `capacity` entries. An entry that is not used for the time `keep` becomes invalid.
  UnsplitConnections(std::uint32_t capacity, Duration keep);

  /// Records the reason why the connection with this key is not split. `tag` is the hash tag of the key.
  void record(const flow::FlowKey& key, flow::KeyTag tag, Counter reason, Instant now);
  /// Removes the entry of a connection, if there is one, because a new connection with the same addresses and ports is
  /// split or controlled.
  void forget(const flow::FlowKey& key, flow::KeyTag tag);
  /// Returns the reason why the connection is not split, and updates the time of the entry's last use. Returns nothing
  /// if no reason is recorded.
  [[nodiscard]] std::optional<Counter> find(const flow::FlowKey& key, flow::KeyTag tag, Instant now) {
    return any_ ? find_noted(key, tag, now) : std::nullopt;
  }

 private:
  /// Entry of the table: the key of a connection and the reason why it is not split.
  struct Entry {
    flow::FlowKey key;
    Instant used = never;  ///< time of the last use; `never` if the entry is free
    Counter reason{};
  };
  using Set = std::array<Entry, 4>;

  /// Returns the reason from the set of four entries that the connection's key selects, and updates the time of the
  /// entry's last use. Returns nothing if no valid entry exists.
  [[nodiscard, gnu::noinline]] std::optional<Counter> find_noted(const flow::FlowKey& key, flow::KeyTag tag,
                                                                 Instant now);
  /// Returns the set of four entries that the hash tag selects.
  [[nodiscard]] Set& set_of(flow::KeyTag tag);
  /// Returns the entry of the connection with this key, or null.
  [[nodiscard]] static Entry* entry_of(Set& set, const flow::FlowKey& key);

  std::vector<Set> sets_;
  Duration keep_;
  bool any_ = false;
};

}  // namespace sluice::proxy
