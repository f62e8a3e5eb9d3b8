// Checks the rules of SMVS that depend on the link, as far as the scenario file states the link's rate. describe() of
// the scenario calls advise_on_links() last, after all sections are read. The result is warnings only, because an
// experiment may break a rule on purpose.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/smvs/smvs.hpp"
#include "emulator/channel/fading.hpp"
#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using control::SmvsParameters;
using control::Violation;

/// Rate and rate of change of a link, as far as the scenario states them.
struct LinkFacts {
  std::optional<Rate> mean;  ///< b̄, the mean rate
  /// Time over which the rate is about constant (Tb of the SMVS paper, Ren and Lin, TMC 2011).
  std::optional<Duration> variation;
};

/// Returns the coherence time of a fading link, which is used as Tb (time over which the rate is about constant).
/// Returns nothing if the link does not fade: `fades` is false, or `doppler`, the Doppler frequency in Hz, is not above
/// 0.
std::optional<Duration> fading_at(double doppler, bool fades = true) {
  if (!fades || doppler <= 0) return std::nullopt;
  return coherence_time(doppler);
}

/// Returns what the scenario states about the link. Radio models have no mean rate before they run, and recorded traces
/// have no Tb (time of about constant rate). The proxy checks such links at run time.
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

/// Returns the rate `mean` divided by the number of UEs that are in the cell of `ue` at the start.
Rate part_of(Rate mean, const std::vector<UeSpec>& ues, const UeSpec& ue) {
  const auto sharing = std::count_if(
      ues.begin(), ues.end(), [&ue](const UeSpec& other) { return other.home == ue.home && other.cell == ue.cell; });
  return Rate::bits_per_second(mean.bps() / static_cast<double>(sharing));
}

/// Returns the parameters of the control law SMVS in `mode`. SMVS makes a step at each report, so parameters that are
/// given per step are converted to the report period of that mode. Returns nothing if SMVS uses no reports in that
/// mode.
std::optional<SmvsParameters> law_of(const Scenario& scenario, RunMode mode) {
  proxy::PolicySettings settings = scenario.proxy;
  settings.mode = mode.mode;
  const std::optional<Duration> period = report_period(scenario, mode);
  if (!period || settings.law() != proxy::Mode::smvs) return std::nullopt;
  const SmvsParameters& parameters = settings.smvs.parameters;
  return *period == parameters.step ? parameters : control::in_steps_of(parameters, *period);
}

/// Returns the rules that the SMVS parameters `law` break on this link. Rules that they break on every link are left
/// out, because the check of the keys reports those.
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
  std::set<std::string> reported;  // rules already reported, because many UEs share one kind of link
  for (const RunMode mode : scenario.modes) {
    const std::optional<SmvsParameters> law = law_of(scenario, mode);
    if (!law) continue;
    for (const UeSpec& ue : scenario.cell.ues) {
      LinkFacts link = facts_of(ue.channel);
      if (link.mean) link.mean = part_of(*link.mean, scenario.cell.ues, ue);
      for (const Violation& broken : broken_on(link, *law)) {
        if (reported.insert(broken.rule).second)
          s.advise(false, "smvs.parameters.step", broken.rule, broken.explanation);
      }
    }
  }
}

}  // namespace sluice::emulator
