// The rules of the law that depend on the link, as far as the file tells what the link carries.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/smvs.hpp"
#include "emulator/channel/fading.hpp"
#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using control::SmvsParameters;
using control::Violation;

/// What a scenario says of a link.
struct LinkFacts {
  std::optional<Rate> mean;           ///< b̄
  std::optional<Duration> variation;  ///< Tb: for so long the rate is about the same
};

/// Tb of a fading link is its coherence time. Nothing of one that does not fade.
std::optional<Duration> fading_at(double doppler, bool fades = true) {
  if (!fades || doppler <= 0) return std::nullopt;
  return coherence_time(doppler);
}

/// Models of the radio do not say what they carry before they run, and recorded traces not even how fast they vary:
/// there the proxy watches.
LinkFacts facts_of(const ChannelSpec& channel) {
  switch (channel.type) {
    case ChannelType::constant:
      return {channel.rate, {}};
    case ChannelType::piecewise:
      return {Rate::bits_per_second((channel.min.bps() + channel.max.bps()) / 2), channel.period};
    case ChannelType::generated:
      return {channel.generated.mean, fading_at(doppler_hz(channel.generated.speed_kmh))};
    case ChannelType::hsdpa:
      return {{}, fading_at(doppler_hz(channel.hsdpa.speed_kmh), channel.hsdpa.fading)};
    case ChannelType::evdo:
      return {{}, fading_at(doppler_hz(channel.evdo.speed_kmh), channel.evdo.fading)};
    case ChannelType::ofdma:
      return {{}, fading_at(doppler_hz(channel.ofdma.speed_kmh), channel.ofdma.fading)};
    case ChannelType::clamp:
      return {{}, fading_at(clamp_doppler_hz(channel.clamp.speed_kmh))};
    case ChannelType::profile:
      if (channel.profile.mean > Rate()) return {channel.profile.mean, {}};
      return {};
    default:
      return {};
  }
}

/// What each of the UEs that begin in this one's cell has of its link, when all are served alike.
Rate part_of(Rate mean, const std::vector<UeSpec>& ues, const UeSpec& ue) {
  const auto sharing = std::count_if(
      ues.begin(), ues.end(), [&ue](const UeSpec& other) { return other.home == ue.home && other.cell == ue.cell; });
  return Rate::bits_per_second(mean.bps() / static_cast<double>(sharing));
}

/// The law in the steps that it runs in under that mode; nothing where no law of SMVS goes by reports.
std::optional<SmvsParameters> law_of(const Scenario& scenario, RunMode mode) {
  proxy::Treatment treatment = scenario.proxy;
  treatment.mode = mode.mode;
  const std::optional<Duration> period = report_period(scenario, mode);
  if (!period || treatment.law() != proxy::Mode::smvs) return std::nullopt;
  const SmvsParameters& parameters = treatment.smvs.parameters;
  return *period == parameters.step ? parameters : control::in_steps_of(parameters, *period);
}

/// What the law breaks on that link and does not break on every other.
std::vector<Violation> broken_on(const LinkFacts& link, const SmvsParameters& law) {
  std::vector<Violation> broken = control::validate(law, link.mean, link.variation);
  for (const Violation& always : control::validate(law)) {
    std::erase_if(broken, [&always](const Violation& here) { return here.rule == always.rule; });
  }
  return broken;
}

}  // namespace

void advise_on_links(config::Section& s, const Scenario& scenario) {
  if (!s.reading()) return;
  std::set<std::string> told;  // many UEs have the same link
  for (const RunMode mode : scenario.modes) {
    const std::optional<SmvsParameters> law = law_of(scenario, mode);
    if (!law) continue;
    for (const UeSpec& ue : scenario.cell.ues) {
      LinkFacts link = facts_of(ue.channel);
      if (link.mean) link.mean = part_of(*link.mean, scenario.cell.ues, ue);
      for (const Violation& broken : broken_on(link, *law)) {
        if (told.insert(broken.rule).second) s.advise(false, "smvs.parameters.step", broken.rule, broken.explanation);
      }
    }
  }
}

}  // namespace sluice::emulator
