// Under which circumstances a script is played, and which of its lines are for them.

#include "tests/conformance/circumstances.hpp"

#include <algorithm>

namespace sluice::conformance {
namespace {

const std::vector<std::string> all_modes = {"split", "acks", "regulate", "bypass"};

/// All combinations of what there is and the values of a variable.
std::vector<Circumstances> with_each(const std::vector<Circumstances>& all, const std::string& name,
                                     const std::vector<std::string>& values) {
  std::vector<Circumstances> more;
  for (const Circumstances& one : all) {
    for (const std::string& value : values) {
      more.push_back(one);
      more.back().variables[name] = value;
    }
  }
  return more;
}

/// Returns those of these values that a script chose, or all of them.
std::vector<std::string> choices(const Script& script, const std::string& name, const std::vector<std::string>& all) {
  std::vector<std::string> chosen = script.setting(name, all);
  for (const std::string& word : chosen) {
    if (std::count(all.begin(), all.end(), word) == 0) throw ScriptError(name + " cannot be " + word);
  }
  return chosen;
}

}  // namespace

std::string describe(const Circumstances& circumstances) {
  std::string text = circumstances.mode + ", IPv" + std::to_string(circumstances.family);
  if (circumstances.splits()) text += circumstances.exposed ? ", exposed" : ", unexposed";
  for (const auto& [name, value] : circumstances.variables) text.append(", ").append(name).append(" ").append(value);
  return text;
}

std::vector<Circumstances> circumstances_of(const Script& script) {
  std::vector<Circumstances> all;
  for (const std::string& mode : choices(script, "modes", all_modes)) {
    for (const std::string& family : choices(script, "families", {"4", "6"})) {
      for (const std::string& exposure : choices(script, "exposure", {"default", "0"})) {
        const Circumstances circumstances{mode, number_of(family), exposure != "0", {}};
        if (circumstances.exposed || circumstances.splits()) all.push_back(circumstances);
      }
    }
  }
  for (const auto& [name, values] : script.repetitions) all = with_each(all, name, values);
  return all;
}

bool is_meant(const Line& line, const Circumstances& circumstances) {
  const std::map<std::string, std::set<std::string>> groups = {
      {circumstances.mode, {all_modes.begin(), all_modes.end()}},
      {circumstances.family == 4 ? "ipv4" : "ipv6", {"ipv4", "ipv6"}},
      {circumstances.exposed ? "exposed" : "unexposed", {"exposed", "unexposed"}}};
  std::size_t known = 0;
  for (const auto& [now, group] : groups) {
    const auto in_group = [&words = group](const std::string& word) { return words.count(word) != 0; };
    const auto named = std::count_if(line.only.begin(), line.only.end(), in_group);
    known += static_cast<std::size_t>(named);
    if (named != 0 && line.only.count(now) == 0) return false;
  }
  for (const auto& [name, value] : circumstances.variables) {
    const auto of_variable = [prefix = name + "="](const std::string& word) { return word.rfind(prefix, 0) == 0; };
    const auto named = std::count_if(line.only.begin(), line.only.end(), of_variable);
    known += static_cast<std::size_t>(named);
    if (named != 0 && line.only.count(name + "=" + value) == 0) return false;
  }
  if (known != line.only.size()) throw ScriptError("expected circumstances in [ ]");
  return true;
}

}  // namespace sluice::conformance
