#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// A word that answers, tables, metrics, logs or files show, and what it means.
struct Explanation {
  std::string word;
  std::string_view kind;  ///< "counter", "metric", "reason", "mode", "key" or "command"
  std::string meaning;
};

/// Every word that a table of the program has a text for. Nothing is written here but the kinds.
[[nodiscard]] std::vector<Explanation> explanations(const StatusSource& status_source);

/// Finds a word among them: whole, without its prefix ("flows_split", "idle"), or the last part of a key ("law").
/// Returns a list, because a word can be of several kinds; a failure names the nearest known word.
[[nodiscard]] admin::Answer explain(const std::vector<Explanation>& all, const std::string& word);

}  // namespace sluice::proxy
