// Keys of the radio: channel models, radio queues, UEs, cells, schedulers, hybrid ARQ and the WLAN air. describe() of
// the scenario calls these functions for `cell`, `nodebs` and `moves`. Checks across keys reject combinations that the
// emulator does not model, such as HARQ on links without blocks.

#include "emulator/link/cqi.hpp"
#include "emulator/scenario/describe.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {
namespace {

using config::Choice;
using config::Scalar;
using config::Section;
using namespace std::chrono_literals;

constexpr Choice<ChannelType> channel_types[] = {
    {"constant", ChannelType::constant, "one rate"},
    {"piecewise", ChannelType::piecewise, "redrawn at random every period: the link of figures 11 and 12 of SMVS"},
    {"trace", ChannelType::trace, "replays a file of delivery opportunities"},
    {"generated", ChannelType::generated, "replays a trace that the fading model generates at start"},
    {"profile", ChannelType::profile,
     "replays the rate that a UE got in each interval of a run of another scenario, repeatedly; virtual time only"},
    {"hsdpa", ChannelType::hsdpa, "path loss, shadowing and fading, CQI, transport blocks, block errors"},
    {"clamp", ChannelType::clamp, "fading slots of the CLAMP paper, with its back-off margin and attempts"},
    {"evdo", ChannelType::evdo, "1xEV-DO: the rate that the SNR of the slot allows"},
    {"ofdma", ChannelType::ofdma, "LTE and NR: CQI tables, resource blocks, block errors"},
    {"wlan", ChannelType::wlan, "medium of an 802.11 access point, shared by all UEs of the cell: cell.wlan"}};
constexpr Choice<link::CqiTable> cqi_tables[] = {
    {"64qam", link::CqiTable::qam64, "TS 36.213 table 7.2.3-1, TS 38.214 table 5.2.2.1-2"},
    {"256qam", link::CqiTable::qam256, "TS 36.213 table 7.2.3-2, TS 38.214 table 5.2.2.1-3"},
    {"64qam-low", link::CqiTable::qam64_low, "TS 38.214 table 5.2.2.1-4"}};
constexpr Choice<MultipathProfile> profiles[] = {{"flat", MultipathProfile::flat, "one path"},
                                                 {"pedestrian-a", MultipathProfile::pedestrian_a, "ITU-R M.1225"},
                                                 {"pedestrian-b", MultipathProfile::pedestrian_b, "ITU-R M.1225"},
                                                 {"vehicular-a", MultipathProfile::vehicular_a, "ITU-R M.1225"}};
constexpr Choice<link::RlcMode> rlc_modes[] = {
    {"acknowledged", link::RlcMode::acknowledged, "lost blocks are retransmitted"},
    {"unacknowledged", link::RlcMode::unacknowledged, "packets that miss a byte are lost"}};

constexpr Choice<MoveType> move_types[] = {{"outage", MoveType::outage, "interruption of the link"},
                                           {"handover", MoveType::handover, "change to another cell or Node-B"},
                                           {"leave", MoveType::leave, "for good"}};
constexpr Choice<DropPolicy> drop_policies[] = {
    {"tail", DropPolicy::tail, "the arriving packet"},
    {"head", DropPolicy::head, "the oldest packet that is not being transmitted"}};
constexpr Choice<QueueOrder> queue_orders[] = {
    {"fifo", QueueOrder::fifo, "in order of arrival"},
    {"short-flows-first", QueueOrder::short_flows_first,
     "short flows before long ones; a full queue drops the newest packets of long flows"}};
constexpr Choice<QueueManagement> radio_queues[] = {
    {"fifo", QueueManagement::none, "drop tail: only packets that do not fit are dropped"},
    {"codel", QueueManagement::codel, "RFC 8289"},
    {"fq-codel", QueueManagement::fq_codel,
     "RFC 8290: a queue per flow of the UE; the longest drops its oldest packet"},
    {"dualpi2", QueueManagement::dualpi2, "RFC 9332: a queue for L4S, one for the rest"},
    {"abc", QueueManagement::abc, "signals senders of ABC (NSDI 2020) to accelerate or brake; downlink only"}};

enum class WithText : std::uint8_t { no, yes };

/// Returns the scheduler names as a text such as "rr, mci or pf". Each name is followed by its description in brackets
/// if `with_text` is yes.
std::string schedulers(WithText with_text) {
  std::string list;
  const auto kinds = scheduler_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) list += i + 1 < kinds.size() ? ", " : " or ";
    list += kinds[i].name;
    if (with_text == WithText::yes) list += " (" + std::string(kinds[i].text) + ")";
  }
  return list;
}

void describe_hsdpa(Section& s, HsdpaParameters& p) {
  s.quantity("distance", p.distance_m, "m", {1, 100'000}, "distance from the Node-B");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "speed of the UE");
  s.value("category", p.category, {1, 10}, "UE category (3GPP TS 25.214), which sets the largest transport block");
  s.value("fading", p.fading, "Rayleigh with Jakes' spectrum");
  s.choice("profile", p.profile, profiles, "multipath profile of the channel, whose echoes the receiver combines");
  s.quantity("shadowing", p.shadowing_db, "dB", {0, 20}, "standard deviation of shadowing; 0dB = none");
  s.quantity("shadowing_distance", p.shadowing_distance_m, "m", {1, 10'000}, "correlation distance of shadowing");
  s.quantity("power", p.power_dbm, "dBm", {-30, 80}, "transmit power");
  s.quantity("antenna_gain", p.antenna_gain_db, "dB", {-30, 60}, "antenna gain of the Node-B");
  s.quantity("intra_cell", p.intra_cell_dbm, "dBm", {-200, 80}, "interference of the own cell, as transmitted");
  s.quantity("inter_cell", p.inter_cell_dbm, "dBm", {-200, 80}, "interference of other cells, as received");
  s.value("cqi_delay", p.cqi_delay, {0, 15}, "TTIs between measurement and use of a CQI");
  s.value("block_errors", p.block_errors, "blocks are lost by the BLER formula");
}

void describe_generated(Section& s, ChannelSpec& channel) {
  TraceParameters& p = channel.generated;
  s.value("mean", p.mean, {Rate::bits_per_second(1e5), Rate::bits_per_second(1e9)}, "mean rate of the whole trace");
  s.quantity("speed", p.speed_kmh, "km/h", {0.1, 500}, "speed of the UE, which sets the rate of fading");
  s.quantity("snr", p.mean_snr_db, "dB", {-10, 40}, "mean SNR; a lower one makes the rate vary more");
  s.quantity("shadowing", p.shadowing_db, "dB", {0, 20}, "standard deviation of slow variations");
  s.value("outage_every", p.outage_every, {0s, 1h}, "mean time between outages; 0s = none");
  s.value("outage_min", p.outage_min, {1ms, 1min}, "shortest outage");
  s.value("outage_max", p.outage_max, {1ms, 1min}, "longest outage");
  s.value("length", channel.length, {1s, 24h}, "length after which the trace repeats");
  s.value("seed", channel.seed, "seed of the trace; not set: the run's seed");
  s.check(p.outage_min <= p.outage_max, "outage_min", "at most outage_max", Scalar<Duration>::format(p.outage_min));
}

void describe_clamp(Section& s, ClampParameters& p) {
  s.quantity("snr", p.mean_snr_db, "dB", {-30, 60}, "mean SNR");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "speed of the UE at a carrier of 1.8 GHz");
  s.quantity("bandwidth", p.bandwidth_hz, "Hz", {1, 1e9}, "W0: the capacity is W0·log2(1 + SNR)");
  s.value("max_rate", p.max_rate, {Rate::bits_per_second(1), fastest_link}, "Cmax: largest rate");
  s.value("attempts", p.attempts, {1, 100}, "attempts after which the packets concerned are dropped");
  s.value("target", p.target, {1e-6, 0.5}, "target share of losses after all attempts, which sets the margin");
}

void describe_ofdma(Section& s, OfdmaParameters& p) {
  s.quantity("snr", p.mean_snr_db, "dB", {-30, 60}, "mean SNR");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "speed of the UE");
  s.choice("table", p.table, cqi_tables, "CQI table");
  s.choice("profile", p.profile, profiles, "multipath profile, which sets how much the power of the whole band fades");
  s.value("fading", p.fading, "Rayleigh with Jakes' spectrum");
  s.quantity("shadowing", p.shadowing_db, "dB", {0, 20}, "standard deviation of shadowing; 0dB = none");
  s.quantity("shadowing_distance", p.shadowing_distance_m, "m", {1, 10'000}, "correlation distance of shadowing");
  s.value("cqi_delay", p.cqi_delay, {0, 15}, "TTIs between measurement and use of a CQI");
  s.value("overhead", p.overhead, {0, 0.9}, "control and reference signals: about 0.25 in LTE, 0.14 in NR");
  s.value("block_errors", p.block_errors, "blocks are lost at random, 10 % at a CQI's threshold");
  s.value("target_bler", p.target_bler, {0.001, 0.5},
          "target of outer loop link adaptation: share of first transmissions lost, 0.1 in most networks; not set: no "
          "outer loop, so a fast UE loses far more");
  s.check(!p.target_bler || p.block_errors, "target_bler", "block_errors: true beside it", "block_errors: false");
}

void describe_evdo(Section& s, EvdoParameters& p) {
  s.quantity("snr", p.mean_snr_db, "dB", {-30, 60}, "mean SNR");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "speed of the UE");
  s.value("fading", p.fading, "Rayleigh with Jakes' spectrum");
}

}  // namespace

void describe(Section& s, ChannelSpec& channel) {
  s.required().choice("type", channel.type, channel_types, "model of the link rate");
  s.when(channel.type == ChannelType::constant, "type is constant", [&] {
    s.value("rate", channel.rate, {Rate(), fastest_link}, "rate of the link");
  });
  s.when(channel.type == ChannelType::piecewise, "type is piecewise", [&] {
    s.value("min", channel.min, {Rate(), fastest_link}, "lowest rate (uniform distribution)");
    s.value("max", channel.max, {Rate(), fastest_link}, "highest rate (uniform distribution)");
    s.value("period", channel.period, {1ms, 1h}, "interval after which a new rate is drawn");
    s.check(channel.min <= channel.max, "min", "at most max", Scalar<Rate>::format(channel.min));
  });
  s.when(channel.type == ChannelType::trace, "type is trace", [&] {
    s.value("file", channel.file, "delivery opportunities, one millisecond per line (Mahimahi's format)");
    s.check(!channel.file.empty(), "file", "the name of a trace", "nothing");
  });
  s.when(
      channel.type == ChannelType::trace || channel.type == ChannelType::generated, "type is trace or generated", [&] {
        s.value("offset", channel.offset, {0s, 24h}, "position in the trace at which the run begins");
        s.value("drawn_offset", channel.drawn_offset, {0s, 24h},
                "largest random addition to offset (uniform, by seed), so that seeds use different parts of one trace");
      });
  s.when(channel.type == ChannelType::generated, "type is generated", [&] {
    s.section(
        "model", [&channel](Section& below) { describe_generated(below, channel); },
        "parameters of the generated trace");
  });
  s.when(channel.type == ChannelType::profile, "type is profile", [&] {
    s.section(
        "profile",
        [&channel](Section& below) {
          ProfileSpec& profile = channel.profile;
          below.required().value("file", profile.file, "file of the other scenario, relative to this one");
          below.list("where", profile.where, {0, 8},
                     "conditions that select the run, such as scheduler=rr; the first match is used");
          below.value("ue", profile.ue, {0, 999}, "UE whose rates are replayed, counted from 0");
          below.value("mean", profile.mean, {Rate(), fastest_link},
                      "mean to which the rates are scaled; 0b/s = unscaled");
        },
        "source of the rates");
    if (s.reading() && !channel.profile.file.empty()) channel.profile.file = s.resolve(channel.profile.file);
  });
  s.when(channel.type == ChannelType::hsdpa, "type is hsdpa", [&] {
    s.section(
        "radio", [&channel](Section& below) { describe_hsdpa(below, channel.hsdpa); }, "the UE's radio");
  });
  s.when(channel.type == ChannelType::clamp, "type is clamp", [&] {
    s.section(
        "slots", [&channel](Section& below) { describe_clamp(below, channel.clamp); }, "the UE's radio");
  });
  s.when(channel.type == ChannelType::ofdma, "type is ofdma", [&] {
    s.section(
        "ofdma", [&channel](Section& below) { describe_ofdma(below, channel.ofdma); }, "the UE's radio");
  });
  s.when(channel.type == ChannelType::evdo, "type is evdo", [&] {
    s.section(
        "evdo", [&channel](Section& below) { describe_evdo(below, channel.evdo); }, "the UE's radio");
  });
}

namespace {

/// Checks a channel that is not the first downlink channel of a UE. WLAN air and replayed profiles are only allowed as
/// first downlink channels.
void check_own_link(Section& s, const ChannelSpec& channel) {
  s.check(channel.type != ChannelType::wlan, "channel", "a channel with TTIs", "an access point's air");
  s.check(channel.type != ChannelType::profile, "channel", "a profile only as the link a UE begins on", "a profile");
}

}  // namespace

void describe(Section& s, MoveSpec& move) {
  s.required().choice("type", move.type, move_types, "what happens");
  s.required().value("at", move.at, {0s, 24h}, "when");
  s.value("ue", move.ue, {0, 999}, "UE that moves, counted from 0");
  s.when(move.type != MoveType::leave, "type is outage or handover", [&] {
    s.value("duration", move.duration, {0s, 1h}, "time without a link");
  });
  s.when(move.type == MoveType::handover, "type is handover", [&] {
    s.value("nodeb", move.nodeb, "name of the target Node-B; empty: another cell of the same one");
    s.value("cell", move.cell, {0, 99}, "target cell of that Node-B, counted from 0");
    s.value("forwarding", move.forwarding, "queued packets are forwarded to the target; false: they are dropped");
    s.value("path_switch", move.path_switch, {0s, 1min},
            "time from the UE's arrival at another Node-B until the core sends there");
    s.section("channel", move.channel,
              "link at the target; not set: the previous one, or the last one with that Node-B");
    if (move.channel) check_own_link(s, *move.channel);
  });
}

namespace {

void check_managed(Section& s, const UeSpec& ue) {
  if (ue.queue.type == QueueManagement::none) return;
  s.check(ue.order == QueueOrder::fifo, "queue", "order fifo under active queue management", "short-flows-first");
  s.check(ue.channel.type != ChannelType::wlan, "queue", "fifo on the air of an access point, which has the queue",
          "active queue management of a UE's own");
}

void check_frames(Section& s, const BufferSpec& buffer, Bytes frame) {
  s.check(buffer.unit != BufferUnit::frames || frame > Bytes(0), "buffer", "packets or a size where frame is 0B",
          Scalar<BufferSpec>::format(buffer));
}

}  // namespace

void describe(Section& s, RadioQueueSpec& queue) {
  s.choice("type", queue.type, radio_queues, "queue discipline");
  const bool codel = queue.type == QueueManagement::codel || queue.type == QueueManagement::fq_codel;
  s.when(codel, "type is codel or fq-codel", [&] {
    describe_times(s, queue.codel);
    s.value("ecn", queue.codel.ecn, "marks packets of ECN-capable senders instead of dropping them");
  });
  s.when(queue.type == QueueManagement::dualpi2, "type is dualpi2", [&] { describe_dual(s, queue.dualpi2); });
  s.when(queue.type == QueueManagement::abc, "type is abc", [&] { describe_abc(s, queue.abc); });
}

void describe(Section& s, UplinkSpec& uplink) {
  s.value("frame", uplink.frame, {Bytes(0), Bytes(65'535)},
          "size of a radio frame; 0B = packets are sent byte by byte");
  s.value("buffer", uplink.buffer, "size of the queue in the UE");
  s.choice("drop", uplink.drop, drop_policies, "packet that is dropped if the queue is full");
  s.section("queue", uplink.queue, "active queue management of that queue");
  s.check(uplink.queue.type != QueueManagement::abc, "queue", "another type: abc measures a downlink", "abc");
  s.required().section("channel", uplink.channel, "link of this UE alone; lost blocks are retransmitted a TTI later");
  check_own_link(s, uplink.channel);
  check_frames(s, uplink.buffer, uplink.frame);
}

void UeSpec::set_default_frames() {
  constexpr std::uint64_t frames = 200;
  frame = given_frame.value_or(channel.type == ChannelType::hsdpa ? link::pdu_size : Bytes(0));
  const auto bytes = frames * static_cast<std::uint64_t>(link::pdu_size.count());
  buffer = given_buffer.value_or(frame > Bytes(0) ? BufferSpec{frames, BufferUnit::frames}
                                                  : BufferSpec{bytes, BufferUnit::bytes});
}

void describe(Section& s, UeSpec& ue) {
  s.required().value("address", ue.address, "address of the UE");
  s.list("more_addresses", ue.more_addresses, {0, 16}, "further addresses of the same UE, sharing its queue");
  s.value("frame", ue.given_frame, {Bytes(0), Bytes(65'535)},
          "size of a radio frame; 0B = packets are sent byte by byte; not set: 40B for channels of type hsdpa, 0B for "
          "others");
  s.value("buffer", ue.given_buffer, "size of the radio queue; not set: 200 frames, or 8000B if frame is 0B");
  s.choice("drop", ue.drop, drop_policies, "packet that is dropped if the queue is full");
  s.choice("order", ue.order, queue_orders, "order in which the UE's packets leave");
  s.when(ue.order == QueueOrder::short_flows_first, "order is short-flows-first", [&] {
    s.value("short_limit", ue.flows.short_limit, {Bytes(0), Bytes(1 << 30)}, "bytes up to which a flow is short");
    s.value("short_reset", ue.flows.reset, {1ms, 1h}, "idle time after which a flow is short again");
  });
  s.section("queue", ue.queue, "active queue management of the radio queue; needs order fifo");
  s.value("nodeb", ue.nodeb, "name of the UE's first Node-B; empty: the first one");
  s.value("cell", ue.cell, {0, 99}, "the UE's first cell at that Node-B, counted from 0");
  s.value("loss", ue.loss, {0, 1}, "share of packets from its queue that are finally lost on the air");
  s.value("loss_run", ue.loss_run, {1, 1000},
          "mean number of consecutive lost packets (Gilbert channel); 1: independent losses");
  s.check(ue.loss_run <= 1 || ue.loss <= ue.loss_run / (ue.loss_run + 1), "loss",
          "at most loss_run / (loss_run + 1), because losses come in runs", Scalar<double>::format(ue.loss));
  s.required().section("channel", ue.channel, "link of the UE");
  s.check(ue.loss <= 0 || ue.channel.type != ChannelType::wlan, "loss", "0 on the air of an access point",
          Scalar<double>::format(ue.loss));
  s.section("uplink", ue.uplink, "uplink of this UE before cell.uplink; not set: only cell.uplink");
  ue.set_default_frames();
  check_frames(s, ue.buffer, ue.frame);
  check_managed(s, ue);
}

void describe(Section& s, WlanParameters& wlan) {
  s.value("buffer", wlan.buffer, {0, 1'000'000}, "queue size of the access point in packets; 0 = unlimited");
  s.value("station_buffer", wlan.station_buffer, {0, 1'000'000}, "queue size of a UE in packets; 0 = unlimited");
  s.quantity("rate", wlan.rate_bps, "b/s", {1e5, 1e10}, "rate of data frames");
  s.quantity("control_rate", wlan.control_rate_bps, "b/s", {1e5, 1e10}, "rate of acknowledgement frames");
  s.value("slot", wlan.slot, {0s, 1s}, "slot time of the back-off");
  s.value("sifs", wlan.sifs, {0s, 1s}, "SIFS, before an acknowledgement");
  s.value("difs", wlan.difs, {0s, 1s}, "DIFS, before a frame");
  s.value("preamble", wlan.preamble, {0s, 1s}, "duration of preamble and PLCP header");
  s.value("contention_window", wlan.contention_window, {0, 1023},
          "contention window in slots; the mean wait is half of it");
}

void describe(Section& s, AirLinkConfig& link) {
  s.value("processes", link.harq.processes, {1, 64},
          "hybrid ARQ processes, which is also the number of TTIs until a retransmission");
  s.value("transmissions", link.harq.transmissions, {1, 16}, "most transmissions of a block");
  s.value("combining", link.harq.combining, "Chase combining: the SNRs of a block's transmissions add up");
  s.value("window", link.reordering.window, {1, 4096}, "reordering window in blocks");
  s.value("stall_timer", link.reordering.stall_timer, {1ms, 10s}, "reordering timer for a missing block");
  s.choice("rlc", link.rlc.mode, rlc_modes, "RLC mode, which handles blocks that hybrid ARQ lost");
  s.value("status_delay", link.rlc.status_delay, {0s, 10s},
          "time from the detection of such a loss to its retransmission");
  s.value("retransmissions", link.rlc.retransmissions, {0, 1000},
          "most RLC retransmissions of one range of lost bytes");
  s.value("poll", link.poll, {1ms, 10s}, "poll timer, after which a loss without later blocks is detected");
}

namespace {

void describe_radio(Section& s, RadioSpec& radio) {
  s.value("tti", radio.tti, {100us, 1s},
          "transmission time interval: 1ms for traces and LTE, 500us for NR at 30 kHz, 2ms for HSDPA, 3ms for clamp");
  s.value("resource_blocks", radio.resources.blocks, {1, 1000},
          "resource blocks of a TTI: 100 for 20 MHz of LTE, 51 for 20 MHz of NR; 1: a TTI serves one UE");
  s.value("cells", radio.cells, {1, 100}, "cells of the Node-B, each with its own scheduler and TTIs");
  s.value("users_per_tti", radio.resources.sharers, {1, 1000},
          "UEs per TTI that share the resource blocks equally; unused blocks go to others");
  s.value("whole_packets", radio.resources.whole_packets,
          "a packet in transmission keeps the radio and its initial rate to its end, as on a link of ns-2");
  static const std::string known = schedulers(WithText::yes);
  s.value("scheduler", radio.scheduler, known);
  s.value("pf_window", radio.pf_window, {1, 1e9}, "TTIs over which pf and fcds average");
  s.section("uplink", radio.uplink, "uplink from the UEs to the Node-B: one line for all, after the UEs' own uplinks");
  s.section("harq", radio.harq, "hybrid ARQ, reordering and RLC; not set: a lost block stays in the queue");
  const bool scheduled = radio.uplink.scheduled.has_value();
  s.check(!scheduled || radio.uplink.scheduled->grant_delay <= radio.tti * radio.uplink.scheduled->air.harq.processes,
          "uplink", "a grant_delay of at most harq.processes TTIs", "a longer one");
  s.check(!scheduled || radio.cells == 1, "uplink", "one cell if the uplink is scheduled", std::to_string(radio.cells));
  s.check(!radio.resources.whole_packets || (radio.resources.blocks == 1 && !radio.harq), "whole_packets",
          "one resource block and no hybrid ARQ", "more than one block, or hybrid ARQ");
  s.check(radio.pf_window > 1, "pf_window", "more than 1", Scalar<double>::format(radio.pf_window));
  s.check(make_scheduler(radio.scheduler) != nullptr, "scheduler", schedulers(WithText::no),
          "\"" + radio.scheduler + "\"");
}

}  // namespace

void describe(Section& s, NodebSpec& nodeb) {
  s.required().value("name", nodeb.name, "name of this Node-B in moves");
  describe_radio(s, nodeb);
  s.section("feedback", nodeb.feedback, "real time: this Node-B's end of the UDP protocol with the proxy");
  s.check(!nodeb.name.empty(), "name", "a name", "nothing");
}

void describe(Section& s, CellSpec& cell) {
  s.value("name", cell.name, "name of the first Node-B in moves");
  describe_radio(s, cell);
  s.required().sections("ues", cell.ues, {1, 1000}, "the UEs of the cell");
  s.check(!cell.name.empty(), "name", "a name", "nothing");
  s.when(cell.ues.empty() || cell.is_wlan(), "the UEs' channels are of type wlan",
         [&] { s.section("wlan", cell.wlan, "the access point"); });
  for (UeSpec& ue : cell.ues) {
    s.check((ue.channel.type == ChannelType::wlan) == cell.is_wlan(), "ues",
            "all UEs on the air of one access point, or none", ue.address.to_string());
    ue.channel.ofdma.resource_blocks = cell.resources.blocks;
    if (ue.uplink) ue.uplink->channel.ofdma.resource_blocks = cell.resources.blocks;
    s.check(!cell.uplink.scheduled || !cell.is_wlan(), "uplink", "no schedule on the air of an access point", "one");
    s.check(!ue.uplink || !cell.is_wlan(), "ues",
            "no uplinks beside an access point, whose medium carries both directions",
            ue.address.to_string() + " has one");
    s.check(!cell.harq || ue.channel.has_transport_blocks(), "harq", "channels with transport blocks (hsdpa, ofdma)",
            ue.address.to_string() + " has another");
  }
}

}  // namespace sluice::emulator
