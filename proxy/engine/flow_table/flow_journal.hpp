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

/// Record of a split connection in a file, which the next run reads if this run ends abnormally. Numbers are in host
/// byte order. If the layout changes, JournalEntry::version must change too.
struct alignas(64) JournalEntry {
  static constexpr std::uint32_t version = 2;
  /// State of a journal entry: whether it is used, and whether a crash of the program would lose data of the
  /// connection.
  enum State : std::uint32_t {
    unused = 0,

    /// a crash would lose no data: everything acknowledged to one host has reached the other host
    even = 1,
    /// a crash would lose data: the proxy has acknowledged, or is about to acknowledge, bytes that the other host has
    /// not acknowledged
    exposed = 2
  };
  /// Bits of JournalEntry::options.
  static constexpr std::uint32_t timestamps = 1;  ///< bit of JournalEntry::options: both hosts send TCP timestamps
  /// bit of JournalEntry::options: the host on the core side has sent the first SYN
  static constexpr std::uint32_t core_initiates = 2;

  /// Frame headers of packets to a host, copied from packet::HeaderTemplate. Outer headers that are longer than
  /// Ethernet with two VLAN tags (tunnels) are not recorded. The entry is then invalid, so that the connection is not
  /// recovered after a crash.
  struct Headers {
    std::uint32_t flow_label;
    std::array<std::uint8_t, packet::ethernet_length + packet::VlanTag::max_length> outer;
    std::uint8_t outer_length;
    std::uint8_t tos;
    std::uint8_t ttl;
    std::uint8_t dont_fragment;
    std::array<std::uint8_t, 2> reserved;
  };

  /// Options in the SYN of a host; a copy of tcp::SynOptions.
  struct Offer {
    /// bits of Offer::flags, one for each option in the SYN
    static constexpr std::uint8_t window_scaling = 1, sack = 2, timestamps = 4, ecn = 8, accurate_ecn = 16;
    std::uint16_t mss;
    std::uint8_t window_scale;
    std::uint8_t flags;
  };

  /// Value of State. The entry is valid whenever the program is killed: the state is `unused` while the other fields
  /// are first written, and is set after all of them.
  std::uint32_t state;
  std::uint32_t options;
  flow::FlowKey key;
  /// acknowledgement number of the host on each Side when the state was last written
  std::array<std::uint32_t, 2> acknowledged;
  std::array<Headers, 2> headers;
  std::array<Offer, 2> offers;  ///< options in both hosts' SYNs, indexed by the Side of the host
};
static_assert(sizeof(JournalEntry) == 128 && sizeof(JournalEntry::Offer) == 4 && sizeof(JournalEntry::Headers) == 32,
              "the file's format");

/// Connection that an earlier run of the program had split, and that cannot continue. That run crashed, and bytes that
/// it had acknowledged to one host but not delivered to the other are lost.
struct CrashedConnection {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< frame headers of packets to the host behind each Side
  /// Newest acknowledgement number of the host behind each Side, as the journal has recorded it.
  std::array<tcp::SeqNum, 2> acknowledged;
  bool timestamps = false;  ///< true if both hosts send TCP timestamps
};

/// Connection that an earlier run of the program had split. It has lost no bytes, so it continues between its hosts. It
/// can be split again once its sequence numbers are known.
struct RecoveredConnection {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< frame headers of packets to the host behind each Side
  std::array<tcp::SynOptions, 2> offers;          ///< options in both hosts' SYNs, indexed by the Side of the host
  Side initiator = Side::radio;
};

/// Time in which no proxy was running: from the last time at which the earlier run is known to have run to the start of
/// this run.
struct RunGap {
  Instant begin;
  Instant end;
};

/// Reads a journal entry of an earlier run whose state is `even` or `exposed`. Returns nothing for another state. All
/// fields are checked, because the file is not trusted; returns nothing if one is invalid.
[[nodiscard]] std::optional<CrashedConnection> read(const JournalEntry& entry);
/// Reads a journal entry of an earlier run whose state is `even`, so that the crash has lost no data. Returns nothing
/// for another state, or if a field is invalid.
[[nodiscard]] std::optional<RecoveredConnection> read_recovered(const JournalEntry& entry);
/// Returns a journal entry with state `exposed` for a crashed connection, from which read() can restore that
/// connection.
[[nodiscard]] JournalEntry to_entry(const CrashedConnection& crashed);

/// Journal of a shard's split connections in a mapped file (StateFile), which remains when the program ends. Entries
/// are written by memory stores without system calls. The order of the stores keeps all entries valid whenever the
/// program is killed. State `exposed` is written before an ACK is sent for bytes that the other host has not
/// acknowledged. Thread: the shard's.
class FlowJournal {
 public:
  /// Creates a journal that writes nothing.
  FlowJournal() = default;
  /// Creates a journal that writes to `entries`, which are indexed by FlowId and must outlive this object.
  explicit FlowJournal(std::span<JournalEntry> entries) : entries_(entries) {}

  /// True if the journal writes entries.
  [[nodiscard]] bool keeps() const { return !entries_.empty(); }
  /// Begins the entry of a connection that was just split.
  void begin(FlowId id, const Flow& flow, const flow::FlowKey& key);
  /// Records whether the connection is `exposed`: bytes are acknowledged to one host and not yet by the other.
  void record(FlowId id, const Flow& flow, bool exposed);
  /// Sets the journal entry of a connection that ends to state `unused`.
  void end(FlowId id);

 private:
  std::span<JournalEntry> entries_;
};

}  // namespace sluice::proxy
