#include "proxy/ops/admin/proxy_commands.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::admin {

std::vector<Command> proxy_commands(std::vector<Action> actions) {
  if (actions.size() != proxy_verbs.size()) throw std::logic_error("proxy_verbs has more or fewer rows than actions");
  std::vector<Command> commands;
  for (const Verb& verb : proxy_verbs) {
    const auto action = std::find_if(actions.begin(), actions.end(),
                                     [&](const Action& candidate) { return candidate.name == verb.name; });
    if (action == actions.end()) throw std::logic_error("no action for " + std::string(verb.name));
    commands.push_back({std::string(verb.name), std::string(verb.arguments), std::string(verb.help), verb.max_arguments,
                        std::move(action->run)});
  }
  return commands;
}

}  // namespace sluice::admin
