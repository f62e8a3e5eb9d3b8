// Passes an operator's commands to all shards and answers when the last shard has carried one out. The admin server
// calls it on the control thread. A command that names a UE is an error if no shard has a connection of that UE.
#include "proxy/daemon/runtime/shard_commands.hpp"

#include <algorithm>
#include <utility>

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

}  // namespace

void ShardCommands::release(std::optional<IpAddress> ue, admin::Reply reply) {
  add({0, ue ? ShardCommand::Kind::release_ue : ShardCommand::Kind::release_all, ue.value_or(IpAddress{})},
      std::move(reply));
}

void ShardCommands::split_again(std::optional<IpAddress> ue, admin::Reply reply) {
  add({0, ue ? ShardCommand::Kind::split_again_ue : ShardCommand::Kind::split_again_all, ue.value_or(IpAddress{})},
      std::move(reply));
}

void ShardCommands::drain(bool on, admin::Reply reply) {
  add({0, on ? ShardCommand::Kind::drain : ShardCommand::Kind::resume, {}}, std::move(reply));
}

void ShardCommands::abort_all(admin::Reply reply) {
  add({0, ShardCommand::Kind::abort_all, {}}, std::move(reply));
}

void ShardCommands::look(admin::Reply reply) {
  add({0, ShardCommand::Kind::look, {}}, std::move(reply));
}

void ShardCommands::add(ShardCommand command, admin::Reply reply) {
  requests_.add({[this, command](std::uint32_t id) {
                   post({id, command.kind, command.ue});
                 },
                 [](const ShardSnapshot& shard) { return shard.command; },
                 [this, command] { return outcome(command); },
                 {},
                 std::move(reply)});
}

void ShardCommands::post(const ShardCommand& command) {
  // Only one command is pending and the ring holds several, so push() fails only if a shard has stopped answering.
  for (ShardChannel* channel : status_source_.channels()) channel->commands.push(command);
  wake_();
}

Answer ShardCommands::outcome(const ShardCommand& command) const {
  using Kind = ShardCommand::Kind;
  const bool names_ue = command.kind == Kind::release_ue || command.kind == Kind::split_again_ue;
  const auto& channels = status_source_.channels();
  const bool is_known = std::any_of(channels.begin(), channels.end(),
                                    [](const ShardChannel* channel) { return channel->snapshots.front().order_found; });
  if (names_ue && !is_known)
    return Answer::failure("no split connection of UE " + command.ue.to_string() + " is known; bearers lists the UEs");
  return summary();
}

Answer ShardCommands::summary() const {
  StayingFlows sum;
  bool draining = false;
  for (const ShardChannel* channel : status_source_.channels()) {
    const ShardSnapshot& shard = channel->snapshots.front();
    draining = draining || shard.draining;
    sum.total += shard.staying.total;
    sum.broken_by_a_stop += shard.staying.broken_by_a_stop;
    for (std::size_t i = 0; i < blocker_count; ++i) sum.by_blocker.at(i) += shard.staying.by_blocker.at(i);
  }
  Json answer = {{"draining", draining}, {"still_split", sum.total}};
  for (std::size_t i = 1; i < blocker_count; ++i) {
    answer["blocked_by"][to_string(static_cast<HandbackBlocker>(i))] = sum.by_blocker.at(i);
  }
  answer["broken_by_a_stop"] = sum.broken_by_a_stop;
  return Answer::success(std::move(answer));
}

}  // namespace sluice::proxy
