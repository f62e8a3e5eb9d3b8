#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emulator/scenario/scenario.hpp"
#include "proxy/yaml/yaml.hpp"

// Text forms of a scenario's values, and the keys of every section with unit, range, default and checks.

namespace sluice::config {

template <>
struct Scalar<emulator::RunMode> {
#define X(name, key, ...) ", " key
  static constexpr std::string_view kind =
      "one of none" SLUICE_OWN_MODES(X) SLUICE_FLOW_CONTROLLERS(X) "; append /regulate if it must not split";
#undef X
  static constexpr std::string_view name = "word";
  static std::optional<emulator::RunMode> parse(std::string_view text);
  static std::string format(emulator::RunMode value) {
    return std::string(to_string(value));
  }
};

template <>
struct Scalar<emulator::BufferSpec> {
  static constexpr std::string_view kind = "a buffer such as 200 frames, 100 packets, 64KiB or unlimited";
  static constexpr std::string_view name = "frames, packets or size";
  static std::optional<emulator::BufferSpec> parse(std::string_view text);
  static std::string format(const emulator::BufferSpec& value);
};

}  // namespace sluice::config

namespace sluice::emulator {

/// Largest rate that any configuration key accepts.
inline const Rate fastest_link = Rate::bits_per_second(100e9);

void describe(config::Section& s, HopSpec& hop);
void describe(config::Section& s, PolicerSpec& policer);
void describe(config::Section& s, StepSpec& step);
void describe(config::Section& s, SecondHopSpec& hop);
void describe(config::Section& s, ChannelSpec& channel);
void describe(config::Section& s, MoveSpec& move);
void describe(config::Section& s, UplinkSpec& uplink);
void describe(config::Section& s, UplinkLineSpec& line);
void describe(config::Section& s, ScheduledUplinkSpec& uplink);
void describe(config::Section& s, ConfiguredGrant& grant);
void describe(config::Section& s, DrxParameters& drx);
void describe(config::Section& s, UeSpec& ue);
void describe(config::Section& s, QueueSpec& queue);
void describe(config::Section& s, RadioQueueSpec& queue);
/// Declares the configuration keys of CoDel's target and interval, for radio queues and for routers.
void describe_times(config::Section& s, CodelParameters& codel);
void describe_pie(config::Section& s, PieParameters& pie);
void describe_dual(config::Section& s, DualPi2Parameters& dual);
void describe_abc(config::Section& s, AbcParameters& abc);
void describe(config::Section& s, WlanParameters& wlan);
void describe(config::Section& s, AirLinkConfig& link);
void describe(config::Section& s, NodebSpec& nodeb);
void describe(config::Section& s, CellSpec& cell);
void describe(config::Section& s, HostsSpec& hosts);
void describe(config::Section& s, PlotSpec& plot);
void describe(config::Section& s, PaperCurve& curve);
/// Checks that plots, time series and windows.csv name existing columns, sweeps and servers.
void check_plots(config::Section& s, const Scenario& scenario);
void describe(config::Section& s, AppSpec& app);
void describe(config::Section& s, SizeDistribution& size);
void describe(config::Section& s, RatioSpec& ratio);
void describe(config::Section& s, SweepSpec& sweep);
void describe(config::Section& s, LivePageSpec& page);
void describe(config::Section& s, LiveSpec& live);
void describe(config::Section& s, Scenario& scenario);

/// Declares the configuration keys of further Node-Bs and checks their values. Call it after `cell` is read and before
/// describe_moves(); it resolves the Node-B names of UEs to numbers.
void describe_nodebs(config::Section& s, Scenario& scenario);
/// Declares the configuration keys of handovers, outages and departures of UEs. Resolves the Node-B names in them to
/// numbers. Call it after describe_nodebs().
void describe_moves(config::Section& s, Scenario& scenario);
/// Warns if a link breaks a rule for the parameters of the control law SMVS, in every mode that needs reports. These
/// are warnings, not errors, because an experiment may break a rule on purpose. A rule is not checked if it needs a
/// value that the scenario does not state, such as the mean rate of a radio model.
void advise_on_links(config::Section& s, const Scenario& scenario);
/// Checks the feedback sections of Node-Bs in real time. Sender ids and addresses must differ between Node-Bs. The
/// section `live` must contain what the mode of live_mode() needs.
void check_live_nodebs(config::Section& s, const Scenario& scenario);

}  // namespace sluice::emulator
