#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/packet/seq.hpp"
#include "proxy/engine/flow/flow.hpp"

namespace sluice::proxy {

/// Record of a split connection in a file, which a later run reads if this one ends abnormally. Numbers are in host
/// byte order. Any change of the layout requires a new JournalEntry::version.
struct alignas(64) JournalEntry {
  static constexpr std::uint32_t version = 2;
  /// State of a journal entry.
  enum State : std::uint32_t {
    unused = 0,

    /// state without loss after a crash: each host has all bytes that were acknowledged to the other one
    even = 1,
    exposed = 2  ///< state with loss after a crash: bytes acknowledged to one host, or about to be, are not
                 ///< acknowledged by the other one
  };
  /// Bits of the field `options`.
  static constexpr std::uint32_t timestamps = 1;      ///< option bit: both hosts send TCP timestamps
  static constexpr std::uint32_t core_initiates = 2;  ///< option bit: the host on the core side sent the first SYN

  /// Frame headers of packets to a host, copied from packet::HeaderTemplate. Outer headers longer than two VLAN tags
  /// are not recorded. The entry is then invalid, so that the connection is not recovered after a crash.
  struct Headers {
    std::uint32_t flow_label;
    std::array<std::uint8_t, packet::ethernet_length + packet::VlanTag::max_length> outer;
    std::uint8_t outer_length;
    std::uint8_t tos;
    std::uint8_t ttl;
    std::uint8_t dont_fragment;
    std::array<std::uint8_t, 2> reserved;
  };

  /// Options of a host's SYN, copied from tcp::SynOptions.
  struct Offer {
    static constexpr std::uint8_t window_scaling = 1, sack = 2, timestamps = 4, ecn = 8;  ///< bits of the field `flags`
    std::uint16_t mss;
    std::uint8_t window_scale;
    std::uint8_t flags;
  };

  std::uint32_t state;  ///< value of State; it is written last when an entry begins, and first when it ends
  std::uint32_t options;
  flow::FlowKey key;
  /// Acknowledgement number of each host, by Side, when the entry's state was last written.
  std::array<std::uint32_t, 2> acknowledged;
  std::array<Headers, 2> headers;
  std::array<Offer, 2> offers;  ///< options of both SYNs, indexed by the Side of the host
};
static_assert(sizeof(JournalEntry) == 128 && sizeof(JournalEntry::Offer) == 4 && sizeof(JournalEntry::Headers) == 32,
              "the file's format");

/// Connection that an earlier run of the program had split, and whose acknowledged bytes were lost when that run
/// crashed.
struct CrashedConnection {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< frame headers of packets to the host behind each Side
  std::array<tcp::SeqNum, 2> acknowledged;        ///< last recorded acknowledgement number of the host behind each Side
  bool timestamps = false;                        ///< true if both hosts send TCP timestamps
};

/// Connection that an earlier run of the program had split and that lost no bytes. It continues between its hosts, and
/// can be split again once their sequence numbers are known.
struct RecoveredConnection {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< frame headers of packets to the host behind each Side
  std::array<tcp::SynOptions, 2> offers;          ///< options of both SYNs, indexed by the Side of the host
  Side initiator = Side::radio;
};

/// Time in which no proxy ran: from the last sign of life of an earlier run to the start of this one.
struct RunGap {
  Instant begin;
  Instant end;
};

/// Reads a journal entry (the record of a split connection of an earlier run) in state even or exposed. Returns nothing
/// if it is in another state or invalid, because files are untrusted.
[[nodiscard]] std::optional<CrashedConnection> read(const JournalEntry& entry);
/// Reads a journal entry (the record of a split connection of an earlier run) in state even. Returns nothing if it is
/// in another state or invalid.
[[nodiscard]] std::optional<RecoveredConnection> read_recovered(const JournalEntry& entry);
/// Returns the journal entry in state exposed from which read() returns `crashed`.
[[nodiscard]] JournalEntry to_entry(const CrashedConnection& crashed);

/// Journal of a shard's split connections in a mapped file that outlives the program (StateFile). It uses plain stores
/// and no system calls, in an order that leaves valid entries whenever the program is killed. State `exposed` is
/// written before an ACK is sent for bytes that the other host does not have. Thread: its shard's.
class FlowJournal {
 public:
  /// Creates a journal that records nothing.
  FlowJournal() = default;
  /// Creates a journal that writes to `entries`, indexed by FlowId, which outlive this object.
  explicit FlowJournal(std::span<JournalEntry> entries) : entries_(entries) {}

  /// True if the journal records anything.
  [[nodiscard]] bool keeps() const { return !entries_.empty(); }
  /// Starts the entry of a connection that was just split.
  void begin(FlowId id, const Flow& flow, const flow::FlowKey& key);
  /// Records whether bytes of the connection are `exposed`: acknowledged to one host and not by the other.
  void record(FlowId id, const Flow& flow, bool exposed);
  /// Marks the journal entry of a connection as unused, because the connection ends.
  void end(FlowId id);

 private:
  std::span<JournalEntry> entries_;
};

}  // namespace sluice::proxy
