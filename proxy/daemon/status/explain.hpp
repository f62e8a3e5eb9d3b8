#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/daemon/status/status_source.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Word that occurs in answers, tables, metrics, logs or files, and its meaning.
struct Explanation {
  std::string word;
  std::string_view kind;  ///< kind of the word: "counter", "metric", "reason", "mode", "key" or "command"
  std::string meaning;
};

/// Returns every word for which a table of the program has a text. The texts come from these tables; only the kinds are
/// defined here.
[[nodiscard]] std::vector<Explanation> explanations(const StatusSource& status_source);

/// Finds a word among the explanations: whole, without its prefix ("flows_split", "idle"), or the last part of a key
/// ("law"). Returns a list, because a word can be of several kinds. If none is found, the failure names the nearest
/// known word.
[[nodiscard]] admin::Answer explain(const std::vector<Explanation>& all, const std::string& word);

}  // namespace sluice::proxy
