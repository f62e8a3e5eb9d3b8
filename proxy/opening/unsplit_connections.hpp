#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/flow_table.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/shard/counters.hpp"

namespace sluice::proxy {

/// Why connections are not split whose handshake was seen, so that each of their segments is counted under that reason
/// and not as one of an unknown connection. Each key has one set of four places; in a full set the entry that was used
/// least recently is replaced, and an entry that is not used for `keep` is invalid. All memory is taken at
/// construction. Thread: its shard's.
class UnsplitConnections {
 public:
  /// Has at least `capacity` places.
  UnsplitConnections(std::uint32_t capacity, Duration keep);

  /// Notes why the connection with this key is not split. `tag` is the hash of the key.
  void note(const flow::FlowKey& key, flow::KeyTag tag, Counter reason, Instant now);
  /// Forgets the connection, if it is there: another one with the same addresses is split.
  void forget(const flow::FlowKey& key, flow::KeyTag tag);
  /// Returns why the connection is not split, and counts as a use; nothing where that is not known.
  [[nodiscard]] std::optional<Counter> find(const flow::FlowKey& key, flow::KeyTag tag, Instant now) {
    return any_ ? find_noted(key, tag, now) : std::nullopt;
  }

 private:
  struct Entry {
    flow::FlowKey key;
    Instant used = never;  ///< `never`: the place is empty
    Counter reason{};
  };
  using Set = std::array<Entry, 4>;

  [[nodiscard, gnu::noinline]] std::optional<Counter> find_noted(const flow::FlowKey& key, flow::KeyTag tag,
                                                                 Instant now);
  [[nodiscard]] Set& set_of(flow::KeyTag tag);
  [[nodiscard]] static Entry* entry_of(Set& set, const flow::FlowKey& key);

  std::vector<Set> sets_;
  Duration keep_;
  bool any_ = false;
};

}  // namespace sluice::proxy
