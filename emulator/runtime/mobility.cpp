// Executes the moves of UEs (outage, handover, departure): their events on cells and Node-Bs, and the channels that are
// silent meanwhile.
// RadioAccess creates one Mobility per run and a channel per UE and Node-B. Invariant: a UE's channel at a Node-B
// carries nothing while the UE is elsewhere.

#include "emulator/runtime/mobility.hpp"

#include <algorithm>
#include <utility>

namespace sluice::emulator {
namespace {

using control::feedback::RadioState;

/// Step of a move that an event executes. The event's tag is the number of the move times three, plus the step.
enum class Step : std::uint8_t { begin, end, path_switch, count };
constexpr auto steps = static_cast<std::uint64_t>(Step::count);

std::uint64_t tag_of(std::size_t move, Step step) {
  return move * steps + static_cast<std::uint64_t>(step);
}

/// Returns the first TTI that begins at or after `when`.
std::uint64_t tti_from(Duration when, Duration tti) {
  return static_cast<std::uint64_t>((when + tti - Duration(1)) / tti);
}

/// Builds the channel of one UE at one Node-B for the whole run: the links that the UE has there one after another, and
/// gaps in which it has none.
class ChannelBuilder {
 public:
  ChannelBuilder(const Scenario& scenario, std::uint32_t nodeb, std::uint32_t ue, std::uint64_t seed,
                 TraceLibrary& traces)
      : scenario_(scenario), nodeb_(nodeb), ue_(ue), seed_(seed), traces_(traces), with_(scenario.cell.ues[ue].home) {}

  std::unique_ptr<Channel> make() {
    std::unique_ptr<Channel> first = make_channel(specification(), tti(), first_draws(), ue_, traces_);
    if (std::none_of(scenario_.moves.begin(), scenario_.moves.end(), [&](const MoveSpec& m) { return m.ue == ue_; }) &&
        with_ == nodeb_) {
      return first;
    }
    timeline_ = std::make_unique<TimelineChannel>(std::move(first));
    if (with_ != nodeb_) timeline_->silence_from(0);
    for (const MoveSpec& move : scenario_.moves) {
      if (move.ue == ue_) add(move);
      if (move.ue == ue_ && move.type == MoveType::leave) break;
    }
    return std::move(timeline_);
  }

 private:
  [[nodiscard]] Duration tti() const { return scenario_.radio(nodeb_).tti; }
  /// Returns the specification of the UE's first link. The number of resource blocks is that of this Node-B.
  [[nodiscard]] ChannelSpec specification() const {
    ChannelSpec channel = scenario_.cell.ues[ue_].channel;
    channel.ofdma.resource_blocks = scenario_.radio(nodeb_).resources.blocks;
    return channel;
  }
  [[nodiscard]] std::uint64_t first_draws() const {
    return with_ == nodeb_ ? seed_ : Random::stream(seed_, "nodeb", nodeb_).next();
  }

  void add(const MoveSpec& move) {
    // Counts the changes, because every new link has its own random stream.
    if (move.channel) ++changes_;
    if (with_ == nodeb_) timeline_->silence_from(tti_from(move.at, tti()));
    with_ = move.to;
    if (move.type == MoveType::leave || with_ != nodeb_) return;
    const std::uint64_t back = tti_from(move.at + move.duration, tti());
    if (move.channel) {
      const std::uint64_t there = Random::stream(seed_, "moved", changes_).next();
      timeline_->replace_from(back, make_channel(*move.channel, tti(), there, ue_, traces_));
    } else {
      timeline_->resume_from(back);
    }
  }

  const Scenario& scenario_;
  std::uint32_t nodeb_;
  std::uint32_t ue_;
  std::uint64_t seed_;
  TraceLibrary& traces_;
  std::uint32_t with_;
  std::uint64_t changes_ = 0;
  std::unique_ptr<TimelineChannel> timeline_;
};

}  // namespace

std::unique_ptr<Channel> make_moving_channel(const Scenario& scenario, std::uint32_t nodeb, std::uint32_t ue,
                                             std::uint64_t seed, TraceLibrary& traces) {
  return ChannelBuilder(scenario, nodeb, ue, seed, traces).make();
}

ChannelSpec uplink_channel(const Scenario& scenario, std::uint32_t ue) {
  const std::optional<UplinkSpec>& own = scenario.cell.ues[ue].uplink;
  if (own) return own->channel;
  ChannelSpec shared;
  shared.rate = scenario.cell.uplink.scheduled->rate;
  return shared;
}

std::unique_ptr<Channel> make_moving_uplink(const Scenario& scenario, std::uint32_t ue, std::uint64_t seed,
                                            TraceLibrary& traces) {
  const Duration tti = scenario.cell.tti;
  const std::uint64_t draws = Random::stream(seed, "uplink", ue).next();
  auto link = make_channel(uplink_channel(scenario, ue), tti, draws, ue, traces);
  std::unique_ptr<TimelineChannel> timeline;
  for (const MoveSpec& move : scenario.moves) {
    if (move.ue != ue) continue;
    if (timeline == nullptr) timeline = std::make_unique<TimelineChannel>(std::move(link));
    timeline->silence_from(tti_from(move.at, tti));
    if (move.type == MoveType::leave) break;
    timeline->resume_from(tti_from(move.at + move.duration, tti));
  }
  if (timeline != nullptr) return timeline;
  return link;
}

Mobility::Mobility(EventLoop& loop, std::vector<MobilityNodeb> nodebs, Switches switches, const Scenario& scenario)
    : nodebs_(std::move(nodebs)), switches_(switches) {
  std::vector<std::uint32_t> handovers(scenario.cell.ues.size());
  for (const MoveSpec& spec : scenario.moves) {
    const std::size_t i = moves_.size();
    moves_.push_back({spec, spec.between_nodebs() ? ++handovers[spec.ue] : 0});
    const Instant at = loop.now() + spec.at;
    loop.at(at, *this, tag_of(i, Step::begin));
    if (spec.type != MoveType::leave) loop.at(at + spec.duration, *this, tag_of(i, Step::end));
    if (spec.between_nodebs()) loop.at(at + spec.duration + spec.path_switch, *this, tag_of(i, Step::path_switch));
  }
}

void Mobility::on_event(std::uint64_t tag, Instant now) {
  const Move& move = moves_[tag / steps];
  switch (static_cast<Step>(tag % steps)) {
    case Step::begin:
      return begin(move, now);
    case Step::end:
      return end(move, now);
    default:
      return switch_path(move, now);
  }
}

void Mobility::begin(const Move& move, Instant now) {
  const MoveSpec& spec = move.spec;
  Cell& cell = cell_of(spec);
  switch (spec.type) {
    case MoveType::outage:
      cell.set_state(spec.ue, RadioState::outage);
      return;
    case MoveType::handover:
      if (spec.between_nodebs()) return leave(move, now);
      cell.set_state(spec.ue, RadioState::handover);
      cell.downlink(spec.ue).reset_link(now);
      if (!spec.forwarding) cell.downlink(spec.ue).flush(DropReason::handover, now);
      return;
    case MoveType::leave:
      cell.set_state(spec.ue, RadioState::released);
      cell.downlink(spec.ue).reset_link(now);
      cell.downlink(spec.ue).flush(DropReason::left, now);
      return;
  }
}

void Mobility::leave(const Move& move, Instant now) {
  const MoveSpec& spec = move.spec;
  MobilityNodeb& from = nodebs_[spec.from];
  nodebs_[spec.to].port->expect(spec.ue, move.handover, spec.forwarding);
  from.port->leave(spec.ue, move.handover, spec.forwarding ? from.onwards[spec.to] : nullptr, now);
  switches_.up->interrupt(spec.ue);
}

void Mobility::end(const Move& move, Instant now) {
  const MoveSpec& spec = move.spec;
  if (cell_of(spec).state(spec.ue) == RadioState::released) return;
  if (spec.between_nodebs()) {
    cell_of(spec).detach(spec.ue, now);
    Cell& there = *nodebs_[spec.to].cell;
    there.move(spec.ue, spec.cell);
    there.attach(spec.ue, now);
    switches_.up->arrive(spec.ue, spec.to, now);
    return;
  }
  if (spec.type == MoveType::handover) cell_of(spec).move(spec.ue, spec.cell);
  cell_of(spec).set_state(spec.ue, RadioState::normal);
}

void Mobility::switch_path(const Move& move, Instant now) {
  const MoveSpec& spec = move.spec;
  switches_.down->lead(spec.ue, spec.to, move.handover, now);
  nodebs_[spec.from].port->path_switched(spec.ue, move.handover, now);
  nodebs_[spec.to].port->path_switched(spec.ue, move.handover, now);
  ++handovers_;
}

}  // namespace sluice::emulator
