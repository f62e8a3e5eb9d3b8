#include "proxy/ops/admin/proxy_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace sluice::admin {
namespace {

std::vector<Action> actions() {
  std::vector<Action> all;
  for (const Verb& verb : proxy_verbs) {
    all.push_back(
        {verb.name, [](const std::vector<std::string>&, const Reply& reply) { reply(Answer::success("done")); }});
  }
  return all;
}

TEST(ProxyCommands, EveryVerbHasItsActionAndItsText) {
  const std::vector<Command> commands = proxy_commands(actions());
  ASSERT_EQ(commands.size(), proxy_verbs.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_EQ(commands[i].name, proxy_verbs[i].name);
    EXPECT_FALSE(commands[i].help.empty());
    EXPECT_EQ(commands[i].arguments.empty(), commands[i].max_arguments == 0) << commands[i].name;
    if (commands[i].arguments.find("--") == std::string::npos) {
      const auto blanks = std::ranges::count(commands[i].arguments, ' ');
      EXPECT_LE(commands[i].max_arguments, static_cast<std::size_t>(blanks) + 1) << commands[i].name;
    }
    EXPECT_TRUE(names.insert(commands[i].name).second) << commands[i].name << " twice";
  }
}

TEST(ProxyCommands, VerbsWithoutActionsAndActionsWithoutVerbsAreRefused) {
  std::vector<Action> missing = actions();
  missing.pop_back();
  EXPECT_THROW(static_cast<void>(proxy_commands(missing)), std::logic_error);
  std::vector<Action> other = actions();
  other.back().name = "no-such-verb";
  EXPECT_THROW(static_cast<void>(proxy_commands(other)), std::logic_error);
}

}  // namespace
}  // namespace sluice::admin
