// Measures one run: throughput, delays, queues and drops, as time series and as totals. Network shows it every packet
// at fixed points; the radio reports departures and drops. Invariant: totals only count what happens after the warm-up;
// series begin with the run. Goodput relates payload to offered bytes, so that scenarios with different headers
// compare.

#include "emulator/runtime/meter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dataplane/packet/parse.hpp"

namespace sluice::emulator {
namespace {

constexpr Duration queue_period = std::chrono::milliseconds(1);

bool is_tcp(packet::ParseResult result) {
  return result == packet::ParseResult::tcp || result == packet::ParseResult::tcp_options_unknown;
}

std::optional<double> maybe_milliseconds(std::optional<Duration> duration) {
  return duration ? std::optional(to_milliseconds(*duration)) : std::nullopt;
}

/// Returns the payload of a packet of the hosts' MTU, divided by the bytes that it takes with padding of radio frames.
/// Its transport header has `transport` bytes. Frame size and address family are those of the first UE.
double payload_share(const Scenario& scenario, double transport) {
  if (scenario.cell.ues.empty()) return 1;
  const UeSpec& ue = scenario.cell.ues.front();
  const double ip = ue.address.is_v4() ? 20 : 40;
  const double mtu = scenario.hosts.mtu;
  const auto frame = static_cast<double>(ue.frame.count());
  const double on_air = frame > 0 ? std::ceil(mtu / frame) * frame : mtu;
  return (mtu - ip - transport) / on_air;
}

std::uint64_t bytes_of(const std::map<IpAddress, std::uint64_t>& by_ue, const IpAddress& ue) {
  const auto at = by_ue.find(ue);
  return at == by_ue.end() ? 0 : at->second;
}

double tcp_header(const Scenario& scenario) {
  return scenario.hosts.timestamps ? 32 : 20;
}

}  // namespace

void Meter::WaitingQueues::put(std::map<std::string, double>& figures, const char* name) const {
  if (samples > 0) figures[name] = static_cast<double>(sum) / static_cast<double>(samples);
}

Meter::Meter(EventLoop& loop, RadioCell& cell, const Scenario& scenario)
    : loop_(loop),
      cell_(cell),
      interval_(scenario.interval),
      measure_from_(loop.now() + scenario.warmup),
      flights_({scenario.server_proxy.delay, scenario.proxy_nodeb.delay}, measure_from_),
      round_trip_(scenario.server_proxy.delay * 2 + scenario.proxy_nodeb.delay * 2 + scenario.cell.uplink.delay),
      payload_share_(payload_share(scenario, tcp_header(scenario))),
      datagram_share_(payload_share(scenario, packet::udp_length)),
      snapshots_(cell.ues()),
      output_(scenario.output) {
  for (std::uint32_t i = 0; i < scenario.nodeb_count(); ++i) nodebs_.push_back(scenario.radio(i).name);
  cell.set_observer(this);
}

void Meter::start(Instant now) {
  started_ = now;
  loop_.at(measure_from_, *this, begin_tag);
  loop_.at(now + interval_, *this, series_tag);
  // Samples lie in the middle of a millisecond, neither just before nor just after a TTI.
  loop_.at(measure_from_ + queue_period / 2, *this, queue_tag);
}

void Meter::downlink(FlightPoint point, const packet::Packet& packet, Instant now) {
  packet::Parsed parsed;
  const packet::ParseResult parsed_as = packet::parse(packet, parsed);
  if (parsed_as == packet::ParseResult::udp && point == FlightPoint::ue_in) datagram(parsed, now);
  if (!is_tcp(parsed_as)) return;
  const FlowId flow{parsed.src, parsed.dst, parsed.src_port, parsed.dst_port};
  const tcp::Segment& segment = parsed.segment;
  if (point != FlightPoint::ue_in && (segment.flags.syn() || segment.flags.rst())) {
    flights_.forget(flow);
    first_bytes_.erase(flow);
  }
  if (segment.payload_len > 0) {
    if (output_.drops && point == FlightPoint::server_out) first_bytes_.try_emplace(flow, segment.seq);
    flights_.data(point, flow, segment.seq + segment.payload_len, segment.payload_len, now);
  }
  if (point == FlightPoint::proxy_out && segment.flags.fin()) flights_.finished(flow);
}

void Meter::datagram(const packet::Parsed& parsed, Instant now) {
  const std::size_t payload = parsed.l4_offset + packet::udp_length;
  if (now < measure_from_ || parsed.frame_length() <= payload) return;
  const std::size_t bytes = parsed.frame_length() - payload;
  datagram_bytes_[parsed.dst] += bytes;
  datagrams_in_interval_ += bytes;
}

void Meter::uplink(const packet::Packet& packet, Instant now) {
  packet::Parsed parsed;
  if (!is_tcp(packet::parse(packet, parsed))) return;
  const FlowId flow{parsed.dst, parsed.src, parsed.dst_port, parsed.src_port};
  if (parsed.segment.flags.rst() || parsed.segment.flags.syn()) {
    flights_.forget(flow);
  } else if (parsed.segment.flags.ack()) {
    flights_.acknowledged(flow, parsed.segment.ack, now);
  }
}

void Meter::reported(std::span<const control::feedback::BearerReport> reports) {
  for (const control::feedback::BearerReport& report : reports) {
    if (!report.allowance) continue;
    granted_ += report.allowance->count();
    any_grant_ = true;
  }
}

void Meter::write_packet(UeIndex ue, const char* event, Bytes length, Duration queueing, Instant now) {
  packets_.push_back({to_seconds(now - started_), cell_.address(ue).to_string(), event,
                      static_cast<std::uint32_t>(length.count()), to_milliseconds(queueing)});
}

void Meter::write_drop(UeIndex ue, const packet::Packet& packet, DropReason reason, Instant now) {
  packet::Parsed parsed;
  if (!is_tcp(packet::parse(packet, parsed))) return;
  const auto first = first_bytes_.find({parsed.src, parsed.dst, parsed.src_port, parsed.dst_port});
  if (first == first_bytes_.end()) return;
  const auto sequence = static_cast<std::uint32_t>(parsed.segment.seq - first->second);
  dropped_.push_back({to_seconds(now - started_), cell_.address(ue).to_string(), parsed.src.to_string(),
                      parsed.src_port, parsed.dst_port, std::string(drop_table[static_cast<std::size_t>(reason)].name),
                      static_cast<double>(sequence)});
}

void Meter::on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing, Instant now) {
  if (output_.packets) write_packet(ue, "departed", length, queueing, now);
  if (now >= measure_from_) {
    radio_.add(queueing);
    if (output_.queues) flow_queues_.departed(ue, packet, length, queueing);
  }
  radio_max_ = std::max(radio_max_.value_or(queueing), queueing);
}

void Meter::on_drop(UeIndex ue, const packet::Packet& packet, Bytes length, DropReason reason, Instant now) {
  if (output_.packets) write_packet(ue, "dropped", length, {}, now);
  if (output_.drops) write_drop(ue, packet, reason, now);
  if (now >= measure_from_) {
    ++drops_;
    ++drops_by_reason_[static_cast<std::size_t>(reason)];
    if (output_.queues) flow_queues_.dropped(ue, packet, length);
    if (drop_event_ == never || now > drop_event_ + round_trip_) {
      ++drop_events_;
      drop_event_ = now;
    }
  }
  ++drops_in_interval_;
}

void Meter::on_event(std::uint64_t tag, Instant now) {
  switch (tag) {
    case begin_tag:
      begin(now);
      return;
    case queue_tag:
      sample_queue();
      loop_.at(now + queue_period, *this, queue_tag);
      return;
    default:
      sample_series(now);
      loop_.at(now + interval_, *this, series_tag);
  }
}

void Meter::describe_ues(std::vector<UeStatus>& out, std::size_t limit, Instant now) const {
  out.clear();
  for (UeIndex ue = 0; ue < cell_.ues() && ue < limit; ++ue)
    out.push_back({cell_.address(ue), cell_.snapshot(ue, now)});
}

void Meter::begin(Instant now) {
  use_before_ = cell_.use(now);
  const auto arrived = flights_.unacknowledged_arrivals();
  for (UeIndex ue = 0; ue < cell_.ues(); ++ue) arrived_before_ += bytes_of(arrived, cell_.address(ue));
}

void Meter::sample_queue() {
  const Backlog backlog = cell_.backlog();
  waiting_.add(backlog.waiting);
  waiting_short_.add(backlog.short_heads);
  ++queue_samples_;
  if (backlog.frames <= 0) ++queue_empty_;
  queue_sum_ += backlog.frames;
  queue_squares_ += backlog.frames * backlog.frames;
}

void Meter::sample_series(Instant now) {
  const double seconds = to_seconds(interval_);
  const LinkUse use = cell_.use(now);
  const LinkUse fresh = use - use_at_point_;
  use_at_point_ = use;
  const FlightRecorder::Interval flights = flights_.take_interval();
  SeriesPoint point;
  point.time_s = to_seconds(now - started_);
  point.link_rate_bps = static_cast<double>(fresh.offered) * 8 / seconds;
  point.link_used_bps = static_cast<double>(fresh.carried) * 8 / seconds;
  point.throughput_bps =
      static_cast<double>(flights.delivered + std::exchange(datagrams_in_interval_, 0)) * 8 / seconds;
  point.outstanding_bytes = static_cast<double>(flights_.outstanding());
  const Backlog backlog = cell_.backlog();
  point.queue_bytes = static_cast<double>(backlog.air.count());
  point.queue_frames = backlog.frames;
  for (const Reporter* reporter : reporters_) {
    for (UeIndex ue = 0; ue < cell_.ues(); ++ue) {
      const control::SmvsState* const law = reporter->law(ue);
      if (law != nullptr) point.reference_bytes = point.reference_bytes.value_or(0) + law->reference;
    }
  }
  if (any_grant_) point.allowance_bps = static_cast<double>(granted_) * 8 / seconds;
  if (router_queue_) {
    if (const std::optional<Bytes> queued = router_queue_()) {
      point.router_queue_bytes = static_cast<double>(queued->count());
    }
  }
  point.radio_queue_delay_ms = maybe_milliseconds(std::exchange(radio_max_, std::nullopt));
  point.proxy_to_ue_delay_ms = maybe_milliseconds(flights.proxy_to_ue_max);
  point.server_to_ue_delay_ms = maybe_milliseconds(flights.server_to_ue_max);
  point.drops = std::exchange(drops_in_interval_, 0);
  point.retransmissions = flights.retransmissions;
  granted_ = 0;
  newest_ = point;
  series_.push_back(point);
  if (output_.ues) sample_ues(now);
}

void Meter::sample_ues(Instant now) {
  const double seconds = to_seconds(interval_);
  for (UeIndex ue = 0; ue < cell_.ues(); ++ue) {
    const UeSnapshot fresh = cell_.snapshot(ue, now);
    const UeSnapshot& last = snapshots_[ue];
    const LinkUse use = fresh.use - last.use;
    UePoint point;
    point.time_s = to_seconds(now - started_);
    point.ue = cell_.address(ue).to_string();
    point.nodeb = nodebs_[fresh.nodeb];
    point.state = fresh.state;
    point.link_rate_bps = static_cast<double>(use.offered) * 8 / seconds;
    point.link_used_bps = static_cast<double>(use.carried) * 8 / seconds;
    point.airtime = use.ttis > 0 ? use.airtime / static_cast<double>(use.ttis) : 0;
    point.queue_bytes = static_cast<double>(fresh.queued.count());
    point.queue_mean_bytes = (fresh.queued_seconds - last.queued_seconds) / seconds;
    point.arrived_bytes = fresh.arrived_bytes;
    point.transmitted_bytes = fresh.transmitted_bytes;
    point.delivered_bytes = fresh.delivered_bytes;
    point.dropped_bytes = fresh.dropped_bytes;
    point.dropped_packets = fresh.dropped_packets;
    point.lost_packets = fresh.lost_packets;
    point.forwarded_bytes = fresh.forwarded_bytes;
    ue_points_.push_back(std::move(point));
    snapshots_[ue] = fresh;
  }
}

// Payload behind a sequence gap at the start of the measurement was carried before it and is subtracted. Payload behind
// a gap at the end was carried during it and counts.
// The remaining error is the packet in transmission at each UE, which counts whole at its end.
double Meter::goodput(std::uint64_t offered, std::uint64_t arrived, std::uint64_t datagrams) const {
  if (offered == 0) return 0;
  const double streams = static_cast<double>(arrived - std::min(arrived, arrived_before_));
  const double on_air = streams / payload_share_ + static_cast<double>(datagrams) / datagram_share_;
  return std::min(1.0, on_air / static_cast<double>(offered));
}

RunResult Meter::result(Instant now) {
  RunResult result;
  result.measured_s = std::max(0.0, to_seconds(now - measure_from_));
  const LinkUse use = cell_.use(now) - use_before_;
  if (result.measured_s > 0) result.utilisation = use.utilisation();
  std::uint64_t acknowledged = 0;
  std::uint64_t arrived = 0;  // payload that arrived and is not acknowledged
  std::uint64_t datagrams = 0;
  std::vector<double> shares;
  const auto unacknowledged = flights_.unacknowledged_arrivals();
  for (UeIndex ue = 0; ue < cell_.ues(); ++ue) {
    const IpAddress& address = cell_.address(ue);
    arrived += bytes_of(unacknowledged, address);
    if (!flights_.delivered().contains(address) && !datagram_bytes_.contains(address)) continue;
    const std::uint64_t of_streams = bytes_of(flights_.delivered(), address);
    const std::uint64_t of_datagrams = bytes_of(datagram_bytes_, address);
    acknowledged += of_streams;
    datagrams += of_datagrams;
    shares.push_back(static_cast<double>(of_streams + of_datagrams));
  }
  if (result.measured_s > 0) {
    result.throughput_bps = static_cast<double>(acknowledged + datagrams) * 8 / result.measured_s;
  }
  result.goodput = goodput(use.offered, acknowledged + arrived, datagrams);
  result.jain = jain_index(shares);
  result.radio_queue_delay = summarize(radio_);
  result.proxy_to_ue_delay = summarize(flights_.proxy_to_ue());
  result.server_to_ue_delay = summarize(flights_.server_to_ue());
  if (queue_samples_ > 0) {
    const auto samples = static_cast<double>(queue_samples_);
    result.queue_mean_frames = queue_sum_ / samples;
    const double variance = queue_squares_ / samples - result.queue_mean_frames * result.queue_mean_frames;
    result.queue_stddev_frames = std::sqrt(std::max(0.0, variance));
    result.queue_empty = static_cast<double>(queue_empty_) / samples;
  }
  if (cell_.queues() > 1) {
    waiting_.put(result.figures, "backlogged_queues");
    waiting_short_.put(result.figures, "backlogged_short_queues");
  }
  result.drops = drops_;
  result.retransmissions = flights_.proxy_retransmissions();
  result.server_retransmissions = flights_.server_retransmissions();
  result.counters["drop_events"] = drop_events_;
  for (std::size_t i = 0; i < drop_reasons; ++i) {
    result.counters["drops_" + std::string(drop_table[i].name)] = drops_by_reason_[i];
  }
  result.counters["segments_unmatched"] = flights_.unmatched();
  result.series = series_;
  result.ues = ue_points_;
  result.packets = packets_;
  result.dropped = dropped_;
  result.queues = flow_queues_.rows(cell_, result.measured_s);
  return result;
}

}  // namespace sluice::emulator
