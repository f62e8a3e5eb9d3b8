#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/tcp/seq.hpp"
#include "proxy/flows/flow.hpp"

namespace sluice::proxy {

/// What a later run of the program must know of a connection that this one had split, should it end without a word. All
/// numbers are of this machine. Changing anything here means another JournalEntry::version.
struct alignas(64) JournalEntry {
  static constexpr std::uint32_t version = 2;
  enum State : std::uint32_t {
    unused = 0,
    even = 1,    ///< each host has all that was acknowledged to the other one: plain forwarding could take over
    exposed = 2  ///< something is acknowledged to a host, or will be next, that the other one has not acknowledged
  };
  /// Bits of `options`.
  static constexpr std::uint32_t timestamps = 1;      ///< both hosts send them
  static constexpr std::uint32_t core_initiates = 2;  ///< the host on the core's side sent the first SYN

  /// How frames to a host look: packet::HeaderTemplate.
  struct Headers {
    std::uint32_t flow_label;
    std::array<std::uint8_t, 22> l2;
    std::uint8_t l2_len;
    std::uint8_t tos;
    std::uint8_t ttl;
    std::uint8_t dont_fragment;
    std::array<std::uint8_t, 2> reserved;
  };

  /// What a host's SYN offered: tcp::SynOptions.
  struct Offer {
    static constexpr std::uint8_t window_scaling = 1, sack = 2, timestamps = 4, ecn = 8;  ///< bits of `flags`
    std::uint16_t mss;
    std::uint8_t window_scale;
    std::uint8_t flags;
  };

  std::uint32_t state;  ///< written last when an entry begins, and first when it ends
  std::uint32_t options;
  flow::FlowKey key;
  /// By the Side that a host is on: what it had acknowledged when the entry became what `state` says.
  std::array<std::uint32_t, 2> acknowledged;
  std::array<Headers, 2> headers;
  std::array<Offer, 2> offers;  ///< by the Side that the host is on
};
static_assert(sizeof(JournalEntry) == 128 && sizeof(JournalEntry::Offer) == 4 && sizeof(JournalEntry::Headers) == 32,
              "the file's format");

/// A connection of an earlier run, of which bytes were acknowledged that will never arrive.
struct Orphan {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< of frames to the host on that side
  std::array<tcp::SeqNum, 2> acknowledged;        ///< by that host, some time ago
  bool timestamps = false;                        ///< both hosts send them
};

/// A connection of an earlier run that lost nothing with it. It passes between its hosts, and can be split again once
/// it is known where they stand.
struct Survivor {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< of frames to the host on that side
  std::array<tcp::SynOptions, 2> offers;          ///< by the Side that the host is on
  Side initiator = Side::radio;
};

/// From when an earlier run was last known to live to when this one began: nobody saw what passed.
struct RunGap {
  Instant begin;
  Instant end;
};

/// Reads an entry; nothing where it is not one, or does not make sense: it comes from a file.
[[nodiscard]] std::optional<Orphan> read(const JournalEntry& entry);
/// The same of one that is even.
[[nodiscard]] std::optional<Survivor> read_survivor(const JournalEntry& entry);
/// The entry, exposed, that is read so.
[[nodiscard]] JournalEntry to_entry(const Orphan& orphan);

/// Keeps the entries of a shard's split connections up to date in memory that outlives the program (a mapped file, see
/// runtime/state_file.hpp). Plain stores, no system calls, in an order that is right whenever the program is killed:
/// `exposed` is written before the acknowledgement leaves that makes it true. Thread: its shard's.
class FlowJournal {
 public:
  /// Nothing is kept.
  FlowJournal() = default;
  /// By FlowId; outlives this.
  explicit FlowJournal(std::span<JournalEntry> entries) : entries_(entries) {}

  [[nodiscard]] bool keeps() const { return !entries_.empty(); }
  void begin(FlowId id, const Flow& flow, const flow::FlowKey& key);
  /// Enters that the connection is exposed now, or is no longer.
  void note(FlowId id, const Flow& flow, bool exposed);
  void end(FlowId id);

 private:
  std::span<JournalEntry> entries_;
};

}  // namespace sluice::proxy
