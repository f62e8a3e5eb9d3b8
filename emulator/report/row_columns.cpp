// Columns of the result files with several rows per run: series, UEs, connections, packets, windows, drops, queues.
// results_csv.cpp writes the cells with them, and results_reference.cpp prints the descriptions.

#include "emulator/report/row_columns.hpp"

#include <string>

namespace sluice::emulator {

const std::vector<Column<SeriesPoint>>& point_columns() {
  static const std::vector<Column<SeriesPoint>> columns = {
      number("time_s", &SeriesPoint::time_s, "end of the interval, in time since the run began"),
      number("link_rate_bps", &SeriesPoint::link_rate_bps, "radio capacity, with padding of radio frames"),
      number("link_used_bps", &SeriesPoint::link_used_bps, "rate that the link carried, with padding of radio frames"),
      number("throughput_bps", &SeriesPoint::throughput_bps,
             "TCP payload that the UEs acknowledged, and UDP payload that reached them"),
      number("outstanding_bytes", &SeriesPoint::outstanding_bytes,
             "bytes sent past the proxy and not acknowledged (the window in use)"),
      maybe("allowance_bps", &SeriesPoint::allowance_bps, "allowance of the last report, as a rate"),
      number("queue_bytes", &SeriesPoint::queue_bytes, "bytes in the radio queues at the end of the interval"),
      number("queue_frames", &SeriesPoint::queue_frames, "radio frames in the radio queues at the end of the interval"),
      maybe("reference_bytes", &SeriesPoint::reference_bytes, "q0, if the SMVS controller runs at the Node-B"),
      maybe("radio_queue_delay_ms", &SeriesPoint::radio_queue_delay_ms, "largest delay in the radio queue"),
      maybe("proxy_to_ue_delay_ms", &SeriesPoint::proxy_to_ue_delay_ms, "largest queueing delay between proxy and UE"),
      maybe("server_to_ue_delay_ms", &SeriesPoint::server_to_ue_delay_ms,
            "largest queueing delay between server and UE"),
      count("drops", &SeriesPoint::drops, "packets dropped by radio queues or lost on the air"),
      count("retransmissions", &SeriesPoint::retransmissions, "segments retransmitted past the proxy"),
      maybe("router_queue_bytes", &SeriesPoint::router_queue_bytes,
            "bytes in the router from servers to proxy at the end, if server_proxy.queue is set")};
  return columns;
}

const std::vector<Column<UePoint>>& ue_columns() {
  static const std::vector<Column<UePoint>> columns = {
      number("time_s", &UePoint::time_s, "end of the interval, in time since the run began"),
      text("ue", &UePoint::ue, "its address"),
      text("state", &UePoint::state, "state of the UE's radio: normal, outage, handover or released"),
      number("link_rate_bps", &UePoint::link_rate_bps, "capacity of the UE's link if no other UE shared it"),
      number("link_used_bps", &UePoint::link_used_bps, "rate that the link carried"),
      number("airtime", &UePoint::airtime, "share of the interval's TTIs or resource blocks that the UE was given"),
      number("queue_bytes", &UePoint::queue_bytes, "bytes in the UE's radio queue at the end of the interval"),
      number("queue_mean_bytes", &UePoint::queue_mean_bytes, "bytes in the UE's radio queue, mean over the interval"),
      count("arrived_bytes", &UePoint::arrived_bytes, "IP bytes that arrived for the UE since the run began"),
      count("transmitted_bytes", &UePoint::transmitted_bytes, "IP bytes of the UE that were transmitted on the radio"),
      count("delivered_bytes", &UePoint::delivered_bytes, "IP bytes that the UE received"),
      count("dropped_bytes", &UePoint::dropped_bytes, "IP bytes that the UE's queue dropped"),
      count("dropped_packets", &UePoint::dropped_packets, "packets that the UE's queue dropped since the run began"),
      count("lost_packets", &UePoint::lost_packets, "packets finally lost on the air since the run began"),
      count("forwarded_bytes", &UePoint::forwarded_bytes,
            "IP bytes forwarded to other Node-Bs since the run began; each arrived once"),
      text("nodeb", &UePoint::nodeb, "name of the serving Node-B")};
  return columns;
}

const std::vector<Column<FlowRow>>& flow_columns() {
  static const std::vector<Column<FlowRow>> columns = {
      text("application", &FlowRow::application, "its type"),
      text("ue", &FlowRow::ue, "address of the UE"),
      {"ue_port", "port of the UE", [](const FlowRow& row) { return std::to_string(row.ue_port); }, {}},
      text("direction", &FlowRow::direction, "download or upload"),
      number("opened_s", &FlowRow::opened_s, "when the SYN was sent, since the run began"),
      maybe("handshake_ms", &FlowRow::handshake_ms, "time from the SYN until the connection was established"),
      number("completion_ms", &FlowRow::completion_ms, "time from the SYN to the last byte, or to the end of the run"),
      count("bytes", &FlowRow::bytes, "bytes of payload"),
      number("throughput_bps", &FlowRow::throughput_bps, "bytes divided by completion time"),
      number("measured_bps", &FlowRow::measured_bps, "throughput of a long transfer after the warm-up"),
      count("ue_retransmissions", &FlowRow::ue_retransmissions, "segments that the UE retransmitted"),
      count("server_retransmissions", &FlowRow::server_retransmissions, "segments that the server retransmitted"),
      count("ue_timeouts", &FlowRow::ue_timeouts, "retransmission timeouts of the UE"),
      count("server_timeouts", &FlowRow::server_timeouts, "retransmission timeouts of the server"),
      number("ue_srtt_ms", &FlowRow::ue_srtt_ms, "last smoothed RTT of the UE"),
      number("server_srtt_ms", &FlowRow::server_srtt_ms, "last smoothed RTT of the server"),
      text("ended", &FlowRow::ended, "reason of the end; running if the connection was still open")};
  return columns;
}

const std::vector<Column<PacketRow>>& packet_columns() {
  static const std::vector<Column<PacketRow>> columns = {
      number("time_s", &PacketRow::time_s, "time since the run began"),
      text("ue", &PacketRow::ue, "address of the UE"),
      text("event", &PacketRow::event, "`departed` from the radio queue, or `dropped` by it"),
      {"bytes", "IP bytes of the packet", [](const PacketRow& row) { return std::to_string(row.bytes); }, {}},
      number("queueing_ms", &PacketRow::queueing_ms, "time that a departed packet spent in the queue")};
  return columns;
}

const std::vector<Column<WindowRow>>& window_columns() {
  static const std::vector<Column<WindowRow>> columns = {
      number("time_s", &WindowRow::time_s, "end of the interval, in time since the run began"),
      text("server", &WindowRow::server, "address of the server"),
      text("ue", &WindowRow::ue, "address of the UE"),
      {"ue_port", "port of the UE", [](const WindowRow& row) { return std::to_string(row.ue_port); }, {}},
      number("congestion_bytes", &WindowRow::congestion_bytes, "the server's congestion window"),
      number("advertised_bytes", &WindowRow::advertised_bytes, "last window that the server received"),
      number("in_flight_bytes", &WindowRow::in_flight_bytes, "bytes in flight of the server"),
      count("timeouts", &WindowRow::timeouts, "timeouts of the retransmission timer so far")};
  return columns;
}

const std::vector<Column<DropRow>>& drop_columns() {
  static const std::vector<Column<DropRow>> columns = {
      number("time_s", &DropRow::time_s, "time since the run began"),
      text("ue", &DropRow::ue, "address of the UE"),
      text("source", &DropRow::source, "address of the other end"),
      {"source_port", "port of the other end", [](const DropRow& row) { return std::to_string(row.source_port); }, {}},
      {"ue_port", "port of the UE", [](const DropRow& row) { return std::to_string(row.ue_port); }, {}},
      text("reason", &DropRow::reason, "reason of the drop, as in the counters drops_*"),
      number("sequence_bytes", &DropRow::sequence_bytes,
             "sequence number of its first byte of payload, relative to the connection's first, modulo 2^32")};
  return columns;
}

const std::vector<Column<QueueRow>>& queue_columns() {
  static const std::vector<Column<QueueRow>> columns = [] {
    std::vector<Column<QueueRow>> list = {
        text("ue", &QueueRow::ue, "address of the UE"),
        text("source", &QueueRow::source, "address of the other end"),
        {"source_port",
         "port of the other end",
         [](const QueueRow& row) { return std::to_string(row.source_port); },
         {}},
        {"ue_port", "port of the UE", [](const QueueRow& row) { return std::to_string(row.ue_port); }, {}},
        count("packets", &QueueRow::packets, "packets that left the queue"),
        count("bytes", &QueueRow::bytes, "IP bytes of the packets that left the queue"),
        count("dropped_packets", &QueueRow::dropped_packets, "packets that the queue dropped"),
        count("dropped_bytes", &QueueRow::dropped_bytes, "IP bytes that the queue dropped"),
        number("queue_mean_bytes", &QueueRow::queue_mean_bytes, "mean share of the flow in the queue, over time")};
    add_delay(list, "delay", &QueueRow::delay, "time in the queue");
    return list;
  }();
  return columns;
}

}  // namespace sluice::emulator
