// Keys of further Node-Bs and of UE moves (handover, outage, departure), and the checks that span several Node-Bs.
// describe() of the scenario calls them after `cell`.
// Invariant: every name of a Node-B is resolved to its number, and the moves of one UE do not overlap.

#include <algorithm>
#include <optional>

#include "emulator/scenario/describe.hpp"
#include "emulator/scenario/live_mode.hpp"

namespace sluice::emulator {
namespace {

using config::Scalar;
using config::Section;

std::string element(const char* list, std::size_t index, const char* key) {
  return std::string(list) + "[" + std::to_string(index) + "]" + key;
}

std::optional<std::uint32_t> number_of(const Scenario& scenario, const std::string& name) {
  for (std::uint32_t i = 0; i < scenario.nodeb_count(); ++i) {
    if (scenario.radio(i).name == name) return i;
  }
  return std::nullopt;
}

std::string known_names(const Scenario& scenario) {
  std::string list = scenario.cell.name;
  for (const NodebSpec& nodeb : scenario.nodebs) list += ", " + nodeb.name;
  return list;
}

/// Sets the number of each UE's first Node-B from the name in the scenario. Checks that name, and the UE's cell.
void check_homes(Section& s, Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.cell.ues.size(); ++i) {
    UeSpec& ue = scenario.cell.ues[i];
    const auto home = ue.nodeb.empty() ? std::optional(0U) : number_of(scenario, ue.nodeb);
    s.check(home.has_value(), "cell." + element("ues", i, ".nodeb"), "a Node-B: " + known_names(scenario),
            "\"" + ue.nodeb + "\"");
    ue.home = home.value_or(0);
    const RadioSpec& radio = scenario.radio(ue.home);
    s.check(ue.cell < radio.cells, "cell." + element("ues", i, ".cell"), "a cell below " + std::to_string(radio.cells),
            std::to_string(ue.cell));
    ue.channel.ofdma.resource_blocks = radio.resources.blocks;
  }
}

/// Checks that the feedback of further Node-B number `index` has another sender id and listen address than each Node-B
/// before it.
void check_senders(Section& s, const Scenario& scenario, std::size_t index) {
  const auto& own = scenario.nodebs[index].feedback;
  if (!own) return;
  const auto differs = [&](const std::optional<config::FeedbackConfig>& other, const std::string& name) {
    if (!other) return;
    s.check(own->sender != other->sender, element("nodebs", index, ".feedback.sender"),
            "another id than that of Node-B " + name, std::to_string(own->sender));
    s.check(own->listen.port == 0 || own->listen != other->listen, element("nodebs", index, ".feedback.listen"),
            "another address than that of Node-B " + name, Scalar<config::SocketAddress>::format(own->listen));
  };
  differs(scenario.live.feedback, scenario.cell.name);
  for (std::size_t i = 0; i < index; ++i) differs(scenario.nodebs[i].feedback, scenario.nodebs[i].name);
}

/// Resolves the target Node-B of a move to its number, and checks target and cell. `with` is the number of the Node-B
/// that serves the UE before the move. Returns the number of the Node-B that serves it afterwards.
std::uint32_t check_target(Section& s, const Scenario& scenario, MoveSpec& move, std::size_t index,
                           std::uint32_t with) {
  const auto to = move.nodeb.empty() ? std::optional(with) : number_of(scenario, move.nodeb);
  s.check(to.has_value(), element("moves", index, ".nodeb"), "a Node-B: " + known_names(scenario),
          "\"" + move.nodeb + "\"");
  s.check(move.nodeb.empty() || to != with, element("moves", index, ".nodeb"),
          "another Node-B than the one that the UE is with", "\"" + move.nodeb + "\"");
  move.from = with;
  move.to = to.value_or(with);
  const RadioSpec& radio = scenario.radio(move.to);
  s.check(move.type != MoveType::handover || move.cell < radio.cells, element("moves", index, ".cell"),
          "a cell below " + std::to_string(radio.cells), std::to_string(move.cell));
  if (!move.channel) return move.to;
  move.channel->ofdma.resource_blocks = radio.resources.blocks;
  s.check(!radio.harq || move.channel->has_transport_blocks(), element("moves", index, ".channel"),
          "a channel with transport blocks (hsdpa, ofdma)", "another");
  return move.to;
}

/// Returns the end of the move, or the largest time if the UE leaves the network. No other move of this UE may begin
/// before it.
Duration end_of(const MoveSpec& move) {
  if (move.type == MoveType::leave) return Duration::max();
  return move.at + move.duration + (move.between_nodebs() ? move.path_switch : Duration());
}

}  // namespace

void describe_nodebs(Section& s, Scenario& scenario) {
  NodebSpec further{static_cast<const RadioSpec&>(scenario.cell), std::nullopt};
  further.name.clear();
  s.sections("nodebs", scenario.nodebs, {0, 15}, further,
             "further Node-Bs, each with its own reports; keys that are not set are as in cell");
  s.section("forwarding", scenario.forwarding,
            "line between any two Node-Bs, which carries forwarded packets after a handover");
  s.check(scenario.nodebs.empty() || !scenario.cell.is_wlan(), "nodebs", "cells with TTIs", "an access point");
  s.check(scenario.nodebs.empty() || !scenario.cell.uplink.scheduled, "nodebs", "one Node-B if its uplink is scheduled",
          std::to_string(scenario.nodebs.size() + 1));
  for (std::size_t i = 0; i < scenario.nodebs.size(); ++i) {
    const NodebSpec& nodeb = scenario.nodebs[i];
    s.check(!nodeb.uplink.scheduled, element("nodebs", i, ".uplink"), "no schedule if there are several Node-Bs",
            "one");
    s.check(number_of(scenario, nodeb.name) == i + 1, element("nodebs", i, ".name"), "every name once",
            "\"" + nodeb.name + "\" again");
    for (const UeSpec& ue : scenario.cell.ues) {
      s.check(!nodeb.harq || ue.channel.has_transport_blocks(), element("nodebs", i, ".harq"),
              "channels with transport blocks (hsdpa, ofdma)", ue.address.to_string() + " has another");
    }
  }
  check_homes(s, scenario);
}

void describe_moves(Section& s, Scenario& scenario) {
  s.sections("moves", scenario.moves, {0, 10'000}, "handovers, outages and departures of UEs, in the order of time");
  Duration before{};
  const std::size_t ues = scenario.cell.ues.size();
  std::vector<Duration> busy(ues);
  std::vector<std::uint32_t> with;
  for (const UeSpec& ue : scenario.cell.ues) with.push_back(ue.home);
  for (std::size_t i = 0; i < scenario.moves.size(); ++i) {
    MoveSpec& move = scenario.moves[i];
    const std::string at = element("moves", i, ".at");
    s.check(move.ue < ues, element("moves", i, ".ue"), "a ue below " + std::to_string(ues), std::to_string(move.ue));
    s.check(move.at >= before, at, "the order of time", Scalar<Duration>::format(move.at));
    s.check(!scenario.cell.is_wlan(), "moves", "a cell with TTIs", "an access point");
    before = move.at;
    if (move.ue >= ues) continue;
    with[move.ue] = check_target(s, scenario, move, i, with[move.ue]);
    s.check(move.at >= busy[move.ue], at, "what happens to a UE one after the other",
            Scalar<Duration>::format(move.at) + " while something else lasts");
    busy[move.ue] = end_of(move);
    s.check(!move.between_nodebs() || busy[move.ue] <= scenario.duration, at,
            "the UE to be with the other Node-B before the run ends, at " + Scalar<Duration>::format(scenario.duration),
            "there at " + Scalar<Duration>::format(busy[move.ue]));
  }
}

void check_live_nodebs(Section& s, const Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.nodebs.size(); ++i) check_senders(s, scenario, i);
  if (scenario.live.cell_core.empty() && scenario.live.cell_ue.empty()) return;
  if (const auto problem = live_problem(scenario, live_mode(scenario))) {
    s.check(false, problem->key, problem->expected, problem->got);
  }
}

}  // namespace sluice::emulator
