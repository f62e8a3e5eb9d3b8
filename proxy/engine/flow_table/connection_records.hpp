#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"

namespace sluice::proxy {

/// Record of a connection that has ended or was handed back to its hosts, or whose handling changed from end to end to
/// split. Arrays are indexed by the Side of the host.
struct ConnectionRecord {
  flow::FlowKey key;
  Side initiator = Side::radio;
  const char* handling = "";             ///< "split", or "end to end" if the proxy did not terminate TCP
  const char* reason = "";               ///< reason for the end of the record, such as closed, reset or released_idle
  Instant first{};                       ///< time at which the connection was split, or was first tracked
  Instant last{};                        ///< arrival time of the newest segment from a host
  std::array<std::uint64_t, 2> bytes;    ///< number of IP bytes received from the host behind each side
  std::array<std::uint64_t, 2> packets;  ///< number of segments received from the host behind each side
  /// number of segments that were retransmitted to the host behind each side
  std::array<std::uint32_t, 2> retransmissions{};
  std::array<Duration, 2> rtt{};  ///< round-trip time to the host behind each side; zero while unknown
  /// smoothed minus minimum round-trip time to the UE when the connection ended; zero while unknown
  Duration queueing_delay{};
};

/// Receiver of the records of connections that have ended.
class ConnectionSink {
 public:
  /// Receives one record. Must not block, because it is called on the packet path.
  virtual void on_end(const ConnectionRecord& record) = 0;

 protected:
  ~ConnectionSink() = default;
};

/// Counts bytes and segments of each connection for the record that is passed to a ConnectionSink when the connection
/// ends. Without a sink nothing is counted: no memory is used, and only one comparison per segment is made. Thread: the
/// shard's.
class ConnectionRecords {
 public:
  /// Selects the table in which the id of a connection is an index: that of split connections, or that of end-to-end
  /// connections.
  enum class Table : std::uint8_t { split, end_to_end };

  /// Reserves address space for `max_flows` connections in each table.
  explicit ConnectionRecords(std::size_t max_flows) : counts_{Counts(max_flows), Counts(max_flows)} {}

  /// Starts to count. Records are passed to `sink`, which must outlive this object. Call it before the first packet.
  void begin(ConnectionSink& sink) { sink_ = &sink; }
  /// True if the bytes and segments of connections are counted.
  [[nodiscard]] bool on() const { return sink_ != nullptr; }
  /// Starts the record of a connection that begins.
  void open(Table table, std::uint32_t id, Instant now) {
    if (on()) [[unlikely]]
      of(table, id) = {.first = now};
  }
  /// Counts segments of the connection that arrived on `in`; `bytes` is their total IP length.
  void count(Table table, std::uint32_t id, Side in, std::uint64_t bytes, std::uint64_t packets = 1) {
    if (on()) [[unlikely]] {
      of(table, id).bytes[static_cast<std::size_t>(in)] += bytes;
      of(table, id).packets[static_cast<std::size_t>(in)] += packets;
    }
  }
  /// Counts a segment that the sending host has retransmitted to the host behind `to`. Only for connections that are
  /// not split.
  void count_repeated(std::uint32_t id, Side to) {
    if (on()) [[unlikely]]
      ++of(Table::end_to_end, id).repeated[static_cast<std::size_t>(to)];
  }
  /// Adds the counted values to `record` and passes it to the sink. Requires on().
  void end(Table table, std::uint32_t id, ConnectionRecord record) const {
    const Count& count = counts_[static_cast<std::size_t>(table)][id];
    record.first = count.first;
    record.bytes = count.bytes;
    record.packets = count.packets;
    if (table == Table::end_to_end) record.retransmissions = count.repeated;
    sink_->on_end(record);
  }

 private:
  struct Count {
    Instant first{};
    std::array<std::uint64_t, 2> bytes{};
    std::array<std::uint64_t, 2> packets{};
    std::array<std::uint32_t, 2> repeated{};
  };
  using Counts = flow::LazyArray<Count>;
  [[nodiscard]] Count& of(Table table, std::uint32_t id) { return counts_[static_cast<std::size_t>(table)][id]; }

  ConnectionSink* sink_ = nullptr;
  std::array<Counts, 2> counts_;
};

}  // namespace sluice::proxy
