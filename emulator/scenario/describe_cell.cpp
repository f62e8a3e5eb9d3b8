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
    {"generated", ChannelType::generated, "replays a trace that is drawn at start from the fading model"},
    {"hsdpa", ChannelType::hsdpa, "path loss, shadowing and fading, CQI, transport blocks, block errors"},
    {"clamp", ChannelType::clamp, "the fading slots of the CLAMP paper, with its back-off margin and attempts"},
    {"evdo", ChannelType::evdo, "1xEV-DO: the rate that the SNR of the slot carries"}};
constexpr Choice<link::RlcMode> rlc_modes[] = {
    {"acknowledged", link::RlcMode::acknowledged, "what was lost is sent again"},
    {"unacknowledged", link::RlcMode::unacknowledged, "packets that miss a byte are lost"}};

const Rate fastest = Rate::bits_per_second(100e9);

enum class WithText : std::uint8_t { no, yes };

/// "rr, mci or pf", with what each is in brackets if wanted.
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
  s.quantity("distance", p.distance_m, "m", {1, 100'000}, "from the Node-B");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "of the UE");
  s.value("category", p.category, {1, 10}, "of the UE (3GPP TS 25.214): its largest transport block");
  s.value("fading", p.fading, "Rayleigh with Jakes' spectrum");
  s.quantity("shadowing", p.shadowing_db, "dB", {0, 20}, "standard deviation; 0dB = none");
  s.quantity("shadowing_distance", p.shadowing_distance_m, "m", {1, 10'000}, "over which shadowing is correlated");
  s.quantity("power", p.power_dbm, "dBm", {-30, 80}, "transmitted");
  s.quantity("antenna_gain", p.antenna_gain_db, "dB", {-30, 60}, "of the Node-B");
  s.quantity("intra_cell", p.intra_cell_dbm, "dBm", {-200, 80}, "own cell's interference, as transmitted");
  s.quantity("inter_cell", p.inter_cell_dbm, "dBm", {-200, 80}, "other cells' interference, as received");
  s.value("cqi_delay", p.cqi_delay, {0, 15}, "TTIs between measurement and use of a CQI");
  s.value("block_errors", p.block_errors, "blocks are lost by the BLER formula");
}

void describe_generated(Section& s, ChannelSpec& channel) {
  TraceParameters& p = channel.generated;
  s.value("mean", p.mean, {Rate::bits_per_second(1e5), Rate::bits_per_second(1e9)}, "of the whole trace");
  s.quantity("speed", p.speed_kmh, "km/h", {0.1, 500}, "of the UE: how fast it fades");
  s.quantity("snr", p.mean_snr_db, "dB", {-10, 40}, "mean: the lower, the wider the swings of the rate");
  s.quantity("shadowing", p.shadowing_db, "dB", {0, 20}, "standard deviation of the slow swings");
  s.value("outage_every", p.outage_every, {0s, 1h}, "mean time between outages; 0s = none");
  s.value("outage_min", p.outage_min, {1ms, 1min}, "shortest outage");
  s.value("outage_max", p.outage_max, {1ms, 1min}, "longest outage");
  s.value("length", channel.length, {1s, 24h}, "after which the trace repeats");
  s.value("seed", channel.seed, "of the trace; when not set, the run's");
  s.check(p.outage_min <= p.outage_max, "outage_min", "at most outage_max", Scalar<Duration>::format(p.outage_min));
}

void describe_clamp(Section& s, ClampParameters& p) {
  s.quantity("snr", p.mean_snr_db, "dB", {-30, 60}, "mean");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "of the UE; carrier 1.8 GHz");
  s.quantity("bandwidth", p.bandwidth_hz, "Hz", {1, 1e9}, "W0: the capacity is W0·log2(1 + SNR)");
  s.value("max_rate", p.max_rate, {Rate::bits_per_second(1), fastest}, "Cmax");
  s.value("attempts", p.attempts, {1, 100}, "after so many failures in a row the packets concerned are dropped");
  s.value("target", p.target, {1e-6, 0.5}, "share of losses after all attempts that the margin is tuned for");
}

void describe_evdo(Section& s, EvdoParameters& p) {
  s.quantity("snr", p.mean_snr_db, "dB", {-30, 60}, "mean");
  s.quantity("speed", p.speed_kmh, "km/h", {0, 500}, "of the UE");
  s.value("fading", p.fading, "Rayleigh with Jakes' spectrum");
}

}  // namespace

void describe(Section& s, ChannelSpec& channel) {
  s.required().choice("type", channel.type, channel_types, "how the rate comes about");
  s.when(channel.type == ChannelType::constant, "type is constant", [&] {
    s.value("rate", channel.rate, {Rate(), fastest}, "of the link");
  });
  s.when(channel.type == ChannelType::piecewise, "type is piecewise", [&] {
    s.value("min", channel.min, {Rate(), fastest}, "rates are drawn evenly from here");
    s.value("max", channel.max, {Rate(), fastest}, "… to here");
    s.value("period", channel.period, {1ms, 1h}, "how long a drawn rate holds");
    s.check(channel.min <= channel.max, "min", "at most max", Scalar<Rate>::format(channel.min));
  });
  s.when(channel.type == ChannelType::trace, "type is trace", [&] {
    s.value("file", channel.file, "delivery opportunities, one millisecond per line (Mahimahi's format)");
    s.check(!channel.file.empty(), "file", "the name of a trace", "nothing");
  });
  s.when(channel.type == ChannelType::trace || channel.type == ChannelType::generated, "type is trace or generated",
         [&] {
           s.value("offset", channel.offset, {0s, 24h}, "where in the trace the run begins");
         });
  s.when(channel.type == ChannelType::generated, "type is generated", [&] {
    s.section(
        "model", [&channel](Section& below) { describe_generated(below, channel); }, "what the trace is drawn from");
  });
  s.when(channel.type == ChannelType::hsdpa, "type is hsdpa", [&] {
    s.section(
        "radio", [&channel](Section& below) { describe_hsdpa(below, channel.hsdpa); }, "the UE's radio");
  });
  s.when(channel.type == ChannelType::clamp, "type is clamp", [&] {
    s.section(
        "slots", [&channel](Section& below) { describe_clamp(below, channel.clamp); }, "the UE's radio");
  });
  s.when(channel.type == ChannelType::evdo, "type is evdo", [&] {
    s.section(
        "evdo", [&channel](Section& below) { describe_evdo(below, channel.evdo); }, "the UE's radio");
  });
}

void describe(Section& s, UeSpec& ue) {
  s.required().value("address", ue.address, "of the UE");
  s.list("more_addresses", ue.more_addresses, {0, 16}, "further addresses of the same UE, sharing its queue");
  s.value("frame", ue.frame, {Bytes(0), Bytes(65'535)}, "size of a radio frame; 0B = packets are sent byte by byte");
  s.value("buffer", ue.buffer, "of the radio queue");
  s.required().section("channel", ue.channel, "the UE's link");
  s.check(ue.buffer.unit != BufferUnit::frames || ue.frame > Bytes(0), "buffer", "packets or a size where frame is 0B",
          Scalar<BufferSpec>::format(ue.buffer));
}

void describe(Section& s, AirLinkConfig& link) {
  s.value("processes", link.harq.processes, {1, 64}, "of hybrid ARQ; a block comes again so many TTIs later");
  s.value("transmissions", link.harq.transmissions, {1, 16}, "of a block in all");
  s.value("combining", link.harq.combining, "Chase: the SNRs of a block's transmissions add up");
  s.value("window", link.reordering.window, {1, 4096}, "blocks that are kept to be put in order");
  s.value("stall_timer", link.reordering.stall_timer, {1ms, 10s}, "how long a missing block is waited for");
  s.choice("rlc", link.rlc.mode, rlc_modes, "what is done about blocks lost in spite of hybrid ARQ");
  s.value("status_delay", link.rlc.status_delay, {0s, 10s}, "from noticing such a loss to sending again");
  s.value("retransmissions", link.rlc.retransmissions, {0, 1000}, "by RLC, of one stretch");
  s.value("poll", link.poll, {1ms, 10s}, "after which a loss with nothing behind it is noticed");
}

void describe(Section& s, CellSpec& cell) {
  s.value("tti", cell.tti, {100us, 1s}, "transmission time interval: 1ms for traces, 2ms for HSDPA, 3ms for clamp");
  static const std::string known = schedulers(WithText::yes);
  s.value("scheduler", cell.scheduler, known);
  s.value("pf_window", cell.pf_window, {1, 1e9}, "TTIs over which pf and fcds average");
  s.required().sections("ues", cell.ues, {1, 1000}, "the UEs of the cell");
  s.section("uplink", cell.uplink, "from the UEs to the Node-B");
  s.section("harq", cell.harq, "hybrid ARQ, reordering and RLC; without, a lost block stays in the queue");
  for (const UeSpec& ue : cell.ues) {
    s.check(!cell.harq || ue.channel.type == ChannelType::hsdpa, "harq", "channels with transport blocks (hsdpa)",
            ue.address.to_string() + " has another");
  }
  s.check(cell.pf_window > 1, "pf_window", "more than 1", Scalar<double>::format(cell.pf_window));
  s.check(make_scheduler(cell.scheduler) != nullptr, "scheduler", schedulers(WithText::no),
          "\"" + cell.scheduler + "\"");
}

}  // namespace sluice::emulator
