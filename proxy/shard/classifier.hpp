#pragma once

#include <optional>
#include <span>

#include "proxy/flows/parsed_burst.hpp"
#include "proxy/handback/changeover.hpp"
#include "proxy/handback/orphans.hpp"
#include "proxy/opening/openings.hpp"
#include "proxy/shard/forwarder.hpp"
#include "proxy/shard/frame_watch.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy {

/// Frames in: what they are, whose they are, and who deals with them. What is nobody's passes untouched. Thread: the
/// shard's.
class Classifier {
 public:
  /// Those who deal with frames; they outlive it.
  struct Parts {
    SplitFlows& flows;
    EndToEndFlows& end_to_end;
    Forwarder& forwarder;
    Openings& openings;
    Changeover& changeover;
    std::optional<Orphans>& orphans;
  };
  Classifier(const ShardContext& shard, const Parts& parts) : shard_(shard), parts_(parts) {}

  /// Takes all packets of the burst.
  void receive(Side in, std::span<packet::Packet> burst, Instant now);
  /// The same while somebody looks.
  [[gnu::cold, gnu::noinline]] void receive_watched(Side in, std::span<packet::Packet> burst, Instant now,
                                                    FrameWatch& watch);

 private:
  void receive_one(Side in, packet::Packet& packet, Instant now);
  [[gnu::noinline]] void receive_many(Side in, std::span<packet::Packet> burst, Instant now);
  void receive_chunk(Side in, std::span<packet::Packet> burst, Instant now);
  void receive_chunk_watched(Side in, std::span<packet::Packet> burst, Instant now, FrameWatch& watch);
  [[gnu::flatten, gnu::noinline]] void look_up(Side in, std::span<const packet::Packet> burst);
  [[gnu::flatten, gnu::noinline]] void look_up_one(Side in, const packet::Packet& packet);
  template <typename Key>
  void find_one(const Key& key);
  void prefetch_end_to_end() const;
  [[nodiscard]] ConnectionId find(std::size_t at) const;
  void handle(Arrival& arrival, ConnectionId id);
  /// A packet that belongs to no connection yet, to one that begins or goes, or is no TCP segment at all.
  [[gnu::noinline]] void handle_other(Arrival& arrival, ConnectionId id);
  [[gnu::cold, gnu::noinline]] void handle_unparsed(Arrival& arrival);
  [[gnu::noinline]] void handle_new(Arrival& arrival);
  [[gnu::noinline]] void handle_end_to_end(Arrival& arrival, EndToEndId id);
  [[nodiscard]] bool is_reused(const Arrival& arrival, const Flow& flow) const;
  /// Of a connection that an earlier run had split; false when it is of none.
  [[nodiscard, gnu::cold, gnu::noinline]] bool end_orphan(const Arrival& arrival);

  const ShardContext shard_;
  Parts parts_;
  ParsedBurst known_{};         ///< the burst in hand
  std::uint32_t removals_ = 0;  ///< Registry::removals() when it was looked up: since one, an id may be that of another
};

}  // namespace sluice::proxy
