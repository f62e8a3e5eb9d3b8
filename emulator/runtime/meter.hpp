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

/// State of one UE at an instant, for the live page.
struct UeStatus {
  IpAddress ue;
  UeSnapshot seen;
};

/// Measures one run. It observes packets at fixed points, departures from the radio queues, and the queues themselves
/// every millisecond. Works for built-in and kernel endpoints, in real and in virtual time. Thread: the event loop's.
class Meter final : public CellObserver, public EventTarget {
 public:
  /// Observes `cell`, whose UEs are already added. `cell` and `loop` must outlive it.
  Meter(EventLoop& loop, RadioCell& cell, const Scenario& scenario);

  /// Adds the reporter of a Node-B that runs the SMVS controller, so that the time series contain the controller's
  /// target queue.
  void add_reporter(const Reporter& reporter) { reporters_.push_back(&reporter); }
  /// Sets the function that returns the bytes in a router's queue, for the time series. The function returns nothing if
  /// the router has no queue.
  void watch_router(std::function<std::optional<Bytes>()> queued) { router_queue_ = std::move(queued); }
  /// Starts sampling. The measurement itself begins after the warm-up.
  void start(Instant now);

  void at_server(const packet::Packet& packet, Instant now) { downlink(FlightPoint::server_out, packet, now); }
  void at_proxy(const packet::Packet& packet, Instant now) { downlink(FlightPoint::proxy_out, packet, now); }
  void at_ue(const packet::Packet& packet, Instant now) { downlink(FlightPoint::ue_in, packet, now); }
  /// Observes a packet on the way from the UE to the proxy.
  void uplink(const packet::Packet& packet, Instant now);
  /// Adds the allowances in the reports (bytes that the proxy may send) to the current interval of the time series.
  void reported(std::span<const control::feedback::BearerReport> reports);

  void on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing, Instant now) override;
  void on_drop(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason reason, Instant now) override;
  void on_event(std::uint64_t tag, Instant now) override;

  /// Returns the measurements up to `now` as a result. Its key (mode, swept values and seed) is not set. Values that
  /// the applications or the runtime measure are not set either.
  [[nodiscard]] RunResult result(Instant now);
  /// Returns the newest point of the time series; its time is 0 if there is no point yet.
  [[nodiscard]] const SeriesPoint& newest() const { return newest_; }
  /// Writes the current state of at most `limit` UEs to `out`.
  void describe_ues(std::vector<UeStatus>& out, std::size_t limit, Instant now) const;
  [[nodiscard]] std::size_t ues() const { return cell_.ues(); }
  /// Returns the numbers of packets dropped since the measurement began, by reason.
  [[nodiscard]] const std::array<std::uint64_t, drop_reasons>& drops_by_reason() const { return drops_by_reason_; }
  /// Returns the number of retransmitted segments that left the proxy since the measurement began.
  [[nodiscard]] std::uint64_t retransmissions() const { return flights_.proxy_retransmissions(); }

 private:
  enum Tag : std::uint64_t { series_tag, queue_tag, begin_tag };
  /// Computes the mean number of backlogged queues. Samples in which no queue is backlogged do not count.
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
  /// Returns the share of the radio's capacity that carried payload, 0 … 1. 1 stands for packets of MTU size without a
  /// pause. `offered` are the bytes that the radio could have carried. `arrived` are bytes of TCP payload, `datagrams`
  /// bytes of UDP payload.
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
  std::vector<std::string> nodebs_;  ///< names of the Node-Bs
  Duration interval_;
  Instant started_{};
  Instant measure_from_;
  FlightRecorder flights_;
  DelayDigest radio_;
  std::uint64_t drops_ = 0;
  std::array<std::uint64_t, drop_reasons> drops_by_reason_{};
  /// Number of drop events. All drops up to one round trip after the first drop count as one event, because a TCP
  /// sender reacts to them once.
  std::uint64_t drop_events_ = 0;
  Instant drop_event_ = never;  ///< time of the first drop of the last drop event
  Duration round_trip_;         ///< propagation delay of a round trip between server and UE
  /// Payload of a TCP packet of the MTU, divided by the bytes that it takes with padding of radio frames.
  double payload_share_;
  /// Payload of a UDP packet of the MTU, divided by the bytes that it takes with padding of radio frames.
  double datagram_share_;
  std::uint64_t arrived_before_ = 0;  ///< TCP payload received but not acknowledged when the measurement began
  std::map<IpAddress, std::uint64_t> datagram_bytes_;  ///< UDP payload that reached each address
  LinkUse use_before_;                                 ///< use of the shared air when the measurement began
  std::uint64_t queue_samples_ = 0;
  std::uint64_t queue_empty_ = 0;
  double queue_sum_ = 0;
  double queue_squares_ = 0;
  WaitingQueues waiting_;
  WaitingQueues waiting_short_;  ///< mean number of backlogged queues whose first packet belongs to a short flow

  // Values since the last point of the series.
  LinkUse use_at_point_;
  std::optional<Duration> radio_max_;
  std::uint64_t drops_in_interval_ = 0;
  /// UDP payload bytes in the current interval of the time series.
  std::uint64_t datagrams_in_interval_ = 0;
  std::int64_t granted_ = 0;
  bool any_grant_ = false;
  std::vector<UeSnapshot> snapshots_;  ///< states of the UEs at the last point of the time series, if output.ues is set
  SeriesPoint newest_;
  std::vector<SeriesPoint> series_;
  OutputSpec output_;
  std::vector<UePoint> ue_points_;
  std::vector<PacketRow> packets_;
  /// Sequence number of the first payload byte of each connection, if output.drops is set.
  std::map<FlowId, tcp::SeqNum> first_bytes_;
  std::vector<DropRow> dropped_;
  FlowQueues flow_queues_;
};

}  // namespace sluice::emulator
