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

/// Record of a split connection that a later run reads if this one ends abnormally. Numbers are in host byte order. Any
/// change of the layout requires a new JournalEntry::version.
struct alignas(64) JournalEntry {
  static constexpr std::uint32_t version = 2;
  /// State of an entry.
  enum State : std::uint32_t {
    unused = 0,
    even = 1,    ///< every byte acknowledged to one host has reached the other: plain forwarding could take over
    exposed = 2  ///< bytes are acknowledged to a host, or will be next, that the other one has not acknowledged
  };
  /// Bits of `options`.
  static constexpr std::uint32_t timestamps = 1;      ///< both hosts send TCP timestamps
  static constexpr std::uint32_t core_initiates = 2;  ///< the host on the core side sent the first SYN

  /// Headers of frames to a host, from packet::HeaderTemplate.
  struct Headers {
    std::uint32_t flow_label;
    std::array<std::uint8_t, 22> l2;
    std::uint8_t l2_len;
    std::uint8_t tos;
    std::uint8_t ttl;
    std::uint8_t dont_fragment;
    std::array<std::uint8_t, 2> reserved;
  };

  /// Options of a host's SYN, from tcp::SynOptions.
  struct Offer {
    static constexpr std::uint8_t window_scaling = 1, sack = 2, timestamps = 4, ecn = 8;  ///< bits of `flags`
    std::uint16_t mss;
    std::uint8_t window_scale;
    std::uint8_t flags;
  };

  std::uint32_t state;  ///< written last when an entry begins, and first when it ends
  std::uint32_t options;
  flow::FlowKey key;
  /// Acknowledgement number of each host, by Side, when the entry last changed its state.
  std::array<std::uint32_t, 2> acknowledged;
  std::array<Headers, 2> headers;
  std::array<Offer, 2> offers;  ///< SYN options by the Side of the host
};
static_assert(sizeof(JournalEntry) == 128 && sizeof(JournalEntry::Offer) == 4 && sizeof(JournalEntry::Headers) == 32,
              "the file's format");

/// Connection of an earlier run with acknowledged bytes that were lost with it.
struct CrashedConnection {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< headers of frames to the host on that side
  std::array<tcp::SeqNum, 2> acknowledged;        ///< last recorded acknowledgement number of that host
  bool timestamps = false;                        ///< both hosts send TCP timestamps
};

/// Connection of an earlier run that lost nothing. It continues between its hosts, and can be split again once their
/// sequence numbers are known.
struct RecoveredConnection {
  flow::FlowKey key;
  std::array<packet::HeaderTemplate, 2> headers;  ///< headers of frames to the host on that side
  std::array<tcp::SynOptions, 2> offers;          ///< SYN options by the Side of the host
  Side initiator = Side::radio;
};

/// Interval without a running proxy: from the last sign of life of an earlier run to the start of this one.
struct RunGap {
  Instant begin;
  Instant end;
};

/// Reads an entry in state even or exposed. Returns nothing if it is in another state or invalid, because files are
/// untrusted.
[[nodiscard]] std::optional<CrashedConnection> read(const JournalEntry& entry);
/// Reads an entry in state even. Returns nothing if it is in another state or invalid.
[[nodiscard]] std::optional<RecoveredConnection> read_recovered(const JournalEntry& entry);
/// Returns an exposed entry from which read() returns `crashed connection`.
[[nodiscard]] JournalEntry to_entry(const CrashedConnection& crashed);

/// Journal of a shard's split connections in a mapped file that outlives the program (runtime/state_file.hpp). Uses
/// plain stores and no system calls, in an order that is valid whenever the program is killed. State `exposed` is
/// written before the ACK that makes it true is sent. Thread: its shard's.
class FlowJournal {
 public:
  /// Creates a journal that records nothing.
  FlowJournal() = default;
  /// Uses `entries`, indexed by FlowId, which outlive this object.
  explicit FlowJournal(std::span<JournalEntry> entries) : entries_(entries) {}

  /// True if the journal records anything.
  [[nodiscard]] bool keeps() const { return !entries_.empty(); }
  /// Starts the entry of a connection that was just split.
  void begin(FlowId id, const Flow& flow, const flow::FlowKey& key);
  /// Records that the connection is exposed from now on, or no longer.
  void record(FlowId id, const Flow& flow, bool exposed);
  /// Marks the entry unused, because the connection ends.
  void end(FlowId id);

 private:
  std::span<JournalEntry> entries_;
};

}  // namespace sluice::proxy
