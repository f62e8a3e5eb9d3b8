#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/feedback/report.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/report/delay_digest.hpp"
#include "emulator/report/flight_recorder.hpp"
#include "emulator/report/result.hpp"
#include "emulator/runtime/flow_queues.hpp"
#include "emulator/scenario/scenario.hpp"

namespace sluice::emulator {

/// A UE at an instant, for somebody who watches.
struct UeNow {
  IpAddress ue;
  UeSnapshot seen;
};

/// Measures one run: looks at packets where they pass, at what leaves the radio queues, and at the queues themselves
/// every millisecond. Built-in and kernel endpoints, real and virtual time alike. Thread: the loop's.
class Meter final : public CellObserver, public EventTarget {
 public:
  /// `cell` and `loop` outlive it. Add the cell's UEs first.
  Meter(EventLoop& loop, RadioCell& cell, const Scenario& scenario);

  /// A Node-B's, where it computes the law: so that its reference can be shown.
  void add_reporter(const Reporter& reporter) { reporters_.push_back(&reporter); }
  /// Whose queue the series shows beside the radio's, each time it is asked; nothing where there is no such queue.
  void watch_router(std::function<std::optional<Bytes>()> queued) { router_queue_ = std::move(queued); }
  /// Begins to sample; the measurement itself begins after the warm-up.
  void start(Instant now);

  void at_server(const packet::Packet& packet, Instant now) { downlink(FlightPoint::server_out, packet, now); }
  void at_proxy(const packet::Packet& packet, Instant now) { downlink(FlightPoint::proxy_out, packet, now); }
  void at_ue(const packet::Packet& packet, Instant now) { downlink(FlightPoint::ue_in, packet, now); }
  /// A packet passes from the UE towards the proxy.
  void uplink(const packet::Packet& packet, Instant now);
  void reported(std::span<const control::feedback::BearerReport> reports);

  void on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing, Instant now) override;
  void on_drop(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason reason, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;

  /// What was measured up to `now`; everything but the key and what applications and runtimes add.
  [[nodiscard]] RunResult result(Instant now);
  /// The newest point of the series; its time is 0 before the first.
  [[nodiscard]] const SeriesPoint& newest() const { return newest_; }
  /// The UEs as they are, at most `limit` of them.
  void describe_ues(std::vector<UeNow>& out, std::size_t limit, Instant now) const;
  [[nodiscard]] std::size_t ues() const { return cell_.ues(); }
  /// Packets dropped since the measurement began.
  [[nodiscard]] const std::array<std::uint64_t, drop_reasons>& drops_by_reason() const { return drops_by_reason_; }
  /// Segments sent past the proxy again, since the measurement began.
  [[nodiscard]] std::uint64_t retransmissions() const { return flights_.proxy_retransmissions(); }

 private:
  enum Tag : std::uint64_t { series_tag, queue_tag, begin_tag };
  /// How many queues have something waiting, at the moments when any has.
  struct WaitingQueues {
    std::uint64_t samples = 0;
    std::uint64_t sum = 0;
    void add(std::uint64_t queues) {
      if (queues > 0) ++samples;
      sum += queues;
    }
    void put(std::map<std::string, double>& figures, const char* name) const;
  };

  void downlink(FlightPoint point, const packet::Packet& packet, Instant now);
  /// Counts the payload of a datagram that reached a UE.
  void datagram(const packet::Parsed& parsed, Instant now);
  void begin(Instant now);
  /// Returns the part of the offered bytes, 0 … 1, that `arrived` bytes of TCP payload and `datagrams` bytes of UDP
  /// payload take in packets of the MTU.
  [[nodiscard]] double goodput(std::uint64_t offered, std::uint64_t arrived, std::uint64_t datagrams) const;
  void sample_queue();
  void sample_series(Instant now);
  void sample_ues(Instant now);
  void write_drop(UeIndex ue, const packet::Packet& packet, DropReason reason, Instant now);
  void write_packet(UeIndex ue, const char* event, Bytes length, Duration queueing, Instant now);

  EventLoop& loop_;
  RadioCell& cell_;
  std::vector<const Reporter*> reporters_;
  std::function<std::optional<Bytes>()> router_queue_;
  std::vector<std::string> nodebs_;  ///< their names
  Duration interval_;
  Instant started_{};
  Instant measure_from_;
  FlightRecorder flights_;
  DelayDigest radio_;
  std::uint64_t drops_ = 0;
  std::array<std::uint64_t, drop_reasons> drops_by_reason_{};
  std::uint64_t drop_events_ = 0;     ///< a drop and those in the round trip behind it
  Instant drop_event_ = never;        ///< when the last of these began
  Duration round_trip_;               ///< propagation
  double payload_share_;              ///< of the bytes on the air, in TCP packets of the MTU
  double datagram_share_;             ///< of the bytes on the air, in UDP packets of the MTU
  std::uint64_t arrived_before_ = 0;  ///< TCP payload that arrived, but was not acknowledged, before the measurement
  std::map<IpAddress, std::uint64_t> datagram_bytes_;  ///< UDP payload that reached an address
  LinkUse use_before_;                                 ///< at the start of the measurement
  std::uint64_t queue_samples_ = 0;
  std::uint64_t queue_empty_ = 0;
  double queue_sum_ = 0;
  double queue_squares_ = 0;
  WaitingQueues waiting_;
  WaitingQueues waiting_short_;  ///< those whose next packet is of a short flow

  // Since the last point of the series.
  LinkUse use_at_point_;
  std::optional<Duration> radio_max_;
  std::uint64_t drops_in_interval_ = 0;
  std::uint64_t datagrams_in_interval_ = 0;  ///< bytes of UDP payload
  std::int64_t granted_ = 0;
  bool any_grant_ = false;
  std::vector<UeSnapshot> snapshots_;  ///< at the last point, where UEs are asked for
  SeriesPoint newest_;
  std::vector<SeriesPoint> series_;
  OutputSpec output_;
  std::vector<UePoint> ue_points_;
  std::vector<PacketRow> packets_;
  std::map<FlowId, tcp::SeqNum> first_bytes_;  ///< of connections, where drops are asked for
  std::vector<DropRow> dropped_;
  FlowQueues flow_queues_;
};

}  // namespace sluice::emulator
