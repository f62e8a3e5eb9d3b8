// Finds, generates and caches what a UE's link replays, and builds the channel model that a scenario names. The runtime
// builds one channel per UE and handover target; `nodeb` checks and prepares traces before the runs start. Invariant:
// every random stream is derived from the run's seed, the model and the UE, so that runs are repeatable.

#include "emulator/scenario/channels.hpp"

#include <filesystem>

#include "emulator/channel/constant.hpp"
#include "emulator/channel/piecewise.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

std::string TraceLibrary::find(const std::string& name) const {
  std::error_code ignored;
  std::string places;
  for (const std::string& folder : folders_) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    places += (places.empty() ? "" : ", ") + folder;
  }
  if (std::filesystem::is_regular_file(name, ignored)) return name;
  throw TraceMissing("the trace " + name + " is not in " + (places.empty() ? "this folder" : places) +
                     "; name its folder with --traces");
}

std::shared_ptr<const CapacityTrace> TraceLibrary::load(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const CapacityTrace>& slot = traces_["file " + name];
  if (!slot) slot = std::make_shared<const CapacityTrace>(CapacityTrace::load(find(name)));
  return slot;
}

std::shared_ptr<const CapacityTrace> TraceLibrary::generate(const ChannelSpec& spec, std::uint64_t seed) {
  const TraceParameters& p = spec.generated;
  std::string name = "generated " + std::to_string(seed) + ' ' + std::to_string(spec.length.count());
  for (const double value : {p.mean.bps(), p.speed_kmh, p.mean_snr_db, p.shadowing_db, to_seconds(p.outage_every),
                             to_seconds(p.outage_min), to_seconds(p.outage_max)}) {
    name += ' ' + std::to_string(value);
  }
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const CapacityTrace>& slot = traces_[name];
  if (!slot) slot = std::make_shared<const CapacityTrace>(generate_trace(p, seed, spec.length));
  return slot;
}

namespace {

std::string profile_name(const ProfileSpec& spec, std::uint64_t seed) {
  std::string name = std::to_string(seed) + '\n' + std::to_string(spec.mean.bps()) + '\n' + spec.file;
  for (const std::string& condition : spec.where) name += '\n' + condition;
  return name;
}

}  // namespace

void TraceLibrary::make_profiles(const ProfileSpec& spec, std::uint64_t seed,
                                 const std::function<std::vector<CapacityProfile>()>& make) {
  const std::lock_guard lock(profiles_mutex_);
  auto& slot = profiles_[profile_name(spec, seed)];
  if (!slot.empty()) return;
  for (CapacityProfile& profile : make()) slot.push_back(std::make_shared<const CapacityProfile>(std::move(profile)));
}

std::shared_ptr<const CapacityProfile> TraceLibrary::profile(const ProfileSpec& spec, std::uint64_t seed) {
  const std::lock_guard lock(profiles_mutex_);
  const auto known = profiles_.find(profile_name(spec, seed));
  if (known == profiles_.end()) {
    throw std::invalid_argument("a link driven by the profile of another scenario needs virtual time");
  }
  if (spec.ue >= known->second.size()) {
    throw std::invalid_argument(spec.file + ": there is no UE " + std::to_string(spec.ue) + " to take a profile of");
  }
  return known->second[spec.ue];
}

std::vector<const ChannelSpec*> all_channels(const Scenario& scenario) {
  std::vector<const ChannelSpec*> channels;
  for (const UeSpec& ue : scenario.cell.ues) {
    channels.push_back(&ue.channel);
    if (ue.uplink) channels.push_back(&ue.uplink->channel);
  }
  for (const MoveSpec& move : scenario.moves) {
    if (move.channel) channels.push_back(&*move.channel);
  }
  return channels;
}

namespace {

/// Returns the position in the trace at which this run begins: the fixed offset plus a random part that depends on the
/// seed.
Duration offset_of(const ChannelSpec& spec, std::uint64_t seed, std::uint32_t ue) {
  if (spec.drawn_offset <= Duration::zero()) return spec.offset;
  Random random = Random::stream(seed, "offset", ue);
  return spec.offset + from_seconds(random.uniform(0, to_seconds(spec.drawn_offset)));
}

}  // namespace

std::unique_ptr<Channel> make_channel(const ChannelSpec& spec, Duration tti, std::uint64_t seed, std::uint32_t ue,
                                      TraceLibrary& traces) {
  switch (spec.type) {
    case ChannelType::constant:
      return std::make_unique<ConstantChannel>(spec.rate, tti);
    case ChannelType::piecewise:
      return std::make_unique<PiecewiseChannel>(PiecewiseParameters{spec.min, spec.max, spec.period}, tti,
                                                Random::stream(seed, "piecewise", ue));
    case ChannelType::trace:
      return std::make_unique<TraceChannel>(traces.load(spec.file), tti, offset_of(spec, seed, ue));
    case ChannelType::generated: {
      Random names = Random::stream(spec.seed.value_or(seed), "trace", ue);
      return std::make_unique<TraceChannel>(traces.generate(spec, names.next()), tti, offset_of(spec, seed, ue));
    }
    case ChannelType::profile:
      return std::make_unique<ProfileChannel>(traces.profile(spec.profile, seed), tti);
    case ChannelType::hsdpa:
      return std::make_unique<HsdpaChannel>(spec.hsdpa, tti, Random::stream(seed, "hsdpa", ue));
    case ChannelType::clamp:
      return std::make_unique<ClampChannel>(spec.clamp, tti, Random::stream(seed, "clamp", ue));
    case ChannelType::evdo:
      return std::make_unique<EvdoChannel>(spec.evdo, tti, Random::stream(seed, "evdo", ue));
    case ChannelType::ofdma:
      return std::make_unique<OfdmaChannel>(spec.ofdma, tti, Random::stream(seed, "ofdma", ue));
    case ChannelType::wlan:
      break;  // the air of an access point has no TTIs and no channel per UE
  }
  throw std::invalid_argument("a channel of unknown type");
}

}  // namespace sluice::emulator
