#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/flow/flow_key.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"

namespace sluice::proxy {

/// Record of a connection that the shard no longer processes. Arrays are indexed by Side.
struct ConnectionRecord {
  flow::FlowKey key;
  Side initiator = Side::radio;
  const char* handling = "";                       ///< "split", or "end to end" if the proxy has not terminated TCP
  const char* reason = "";                         ///< why the record ends, such as closed, reset or released_idle
  Instant first{};                                 ///< when the connection was split or tracked
  Instant last{};                                  ///< when the newest segment of a host was received
  std::array<std::uint64_t, 2> bytes;              ///< IP bytes received from the host behind the side
  std::array<std::uint64_t, 2> packets;            ///< segments received from the host behind the side
  std::array<std::uint32_t, 2> retransmissions{};  ///< segments sent again to the host behind the side
  std::array<Duration, 2> rtt{};                   ///< round trip to the host behind the side; zero while unknown
  Duration queueing_delay{};  ///< smoothed round trip to the UE less the smallest one, at the end; zero while unknown
};

/// Receiver of the records of connections that have ended.
class ConnectionSink {
 public:
  /// Receives one record. It is called on the packet path, so it must not block.
  virtual void on_end(const ConnectionRecord& record) = 0;

 protected:
  ~ConnectionSink() = default;
};

/// Counts bytes and segments of each connection, if a ConnectionSink is set that receives the records of ended
/// connections. Without one it uses no memory, and one comparison per segment. Thread: the shard's.
class ConnectionRecords {
 public:
  /// Table in which a connection has its id.
  enum class Table : std::uint8_t { split, end_to_end };

  /// Reserves address space for `max_flows` connections of each table.
  explicit ConnectionRecords(std::size_t max_flows) : counts_{Counts(max_flows), Counts(max_flows)} {}

  /// Starts to count, and passes records to `sink`, which outlives this object. Call it before the first packet.
  void begin(ConnectionSink& sink) { sink_ = &sink; }
  /// True if connections are counted.
  [[nodiscard]] bool on() const { return sink_ != nullptr; }
  /// Starts the record of a connection.
  void open(Table table, std::uint32_t id, Instant now) {
    if (on()) [[unlikely]]
      of(table, id) = {.first = now};
  }
  /// Counts segments that were received on `in`.
  void count(Table table, std::uint32_t id, Side in, std::uint64_t bytes, std::uint64_t packets = 1) {
    if (on()) [[unlikely]] {
      of(table, id).bytes[static_cast<std::size_t>(in)] += bytes;
      of(table, id).packets[static_cast<std::size_t>(in)] += packets;
    }
  }
  /// Counts a segment that a host has retransmitted to the host behind `to`, on a connection that is not split.
  void count_repeated(std::uint32_t id, Side to) {
    if (on()) [[unlikely]]
      ++of(Table::end_to_end, id).repeated[static_cast<std::size_t>(to)];
  }
  /// Completes `record` with the counted values, and passes it to the sink. Requires on().
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
