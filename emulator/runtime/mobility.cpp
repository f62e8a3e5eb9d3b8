#include "emulator/runtime/mobility.hpp"

#include <algorithm>
#include <utility>

namespace sluice::emulator {
namespace {

using control::feedback::RadioState;

/// The first TTI that begins at `when` or later.
std::uint64_t tti_from(Duration when, Duration tti) {
  return static_cast<std::uint64_t>((when + tti - Duration(1)) / tti);
}

/// A UE's link with the silences that its moves bring. `replace(move)` is the link after a handover; null: as before.
template <typename Replace>
std::unique_ptr<Channel> with_moves(std::unique_ptr<Channel> first, const Scenario& scenario, std::uint32_t ue,
                                    Replace&& replace) {
  const Duration tti = scenario.cell.tti;
  std::unique_ptr<TimelineChannel> timeline;
  for (const MoveSpec& move : scenario.moves) {
    if (move.ue != ue) continue;
    if (timeline == nullptr) timeline = std::make_unique<TimelineChannel>(std::move(first));
    timeline->silence_from(tti_from(move.at, tti));
    if (move.type == MoveType::leave) break;
    const std::uint64_t back = tti_from(move.at + move.duration, tti);
    std::unique_ptr<Channel> next = move.type == MoveType::handover ? replace(move) : nullptr;
    if (next != nullptr) {
      timeline->replace_from(back, std::move(next));
    } else {
      timeline->resume_from(back);
    }
  }
  if (timeline != nullptr) return timeline;
  return first;
}

}  // namespace

std::unique_ptr<Channel> make_moving_channel(const Scenario& scenario, std::uint32_t ue, std::uint64_t seed,
                                             TraceLibrary& traces) {
  const Duration tti = scenario.cell.tti;
  std::uint64_t changes = 0;
  return with_moves(make_channel(scenario.cell.ues[ue].channel, tti, seed, ue, traces), scenario, ue,
                    [&](const MoveSpec& move) -> std::unique_ptr<Channel> {
                      if (!move.channel) return nullptr;
                      // A stream of its own for every cell it comes to.
                      const std::uint64_t there = Random::stream(seed, "moved", ++changes).next();
                      return make_channel(*move.channel, tti, there, ue, traces);
                    });
}

std::unique_ptr<Channel> make_moving_uplink(const Scenario& scenario, std::uint32_t ue, std::uint64_t seed,
                                            TraceLibrary& traces) {
  const std::uint64_t draws = Random::stream(seed, "uplink", ue).next();
  return with_moves(make_channel(scenario.cell.ues[ue].uplink->channel, scenario.cell.tti, draws, ue, traces), scenario,
                    ue, [](const MoveSpec&) { return nullptr; });
}

Mobility::Mobility(EventLoop& loop, Cell& cell, const std::vector<MoveSpec>& moves) : cell_(cell), moves_(moves) {
  for (std::size_t i = 0; i < moves_.size(); ++i) {
    const Instant at = loop.now() + moves_[i].at;
    loop.at(at, *this, 2 * i);
    if (moves_[i].type != MoveType::leave) loop.at(at + moves_[i].duration, *this, 2 * i + 1);
  }
}

void Mobility::on_event(std::uint64_t tag, Instant now) {
  const MoveSpec& move = moves_[tag / 2];
  if (tag % 2 == 0) {
    begin(move, now);
  } else {
    end(move);
  }
}

void Mobility::begin(const MoveSpec& move, Instant now) {
  switch (move.type) {
    case MoveType::outage:
      cell_.set_state(move.ue, RadioState::outage);
      return;
    case MoveType::handover:
      cell_.set_state(move.ue, RadioState::handover);
      cell_.reset_link(move.ue, now);
      if (!move.forwarding) cell_.flush(move.ue, now);
      return;
    case MoveType::leave:
      cell_.set_state(move.ue, RadioState::released);
      cell_.reset_link(move.ue, now);
      cell_.flush(move.ue, now);
      return;
  }
}

void Mobility::end(const MoveSpec& move) {
  if (cell_.state(move.ue) == RadioState::released) return;
  if (move.type == MoveType::handover) cell_.move(move.ue, move.cell);
  cell_.set_state(move.ue, RadioState::normal);
}

}  // namespace sluice::emulator
