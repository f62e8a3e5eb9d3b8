#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Word that occurs in answers, tables, metrics, logs or files, and its meaning.
struct Explanation {
  std::string word;

  /// kind of the word: "column", "phase", "reason", "counter", "metric", "mode", "command" or "key"
  std::string_view kind;
  std::string meaning;
};

/// Returns every word for which a table of the program has a text. The texts come from these tables; only the kinds are
/// defined here.
[[nodiscard]] std::vector<Explanation> explanations();

/// Finds a word among the explanations. The word may be whole, without its prefix ("flows_split", "idle"), or the last
/// part of a key ("law"). Returns a list, because a word can be of several kinds. If no explanation is found, the
/// failure names the nearest known word.
[[nodiscard]] admin::Answer explain(const std::vector<Explanation>& all, const std::string& word);

/// Section of the reference of words.
struct WordSection {
  std::string_view kind;
  std::string_view title;
  std::string_view text;
};
/// Returns the sections of the reference. Keys are not in it, because they have a reference of their own.
[[nodiscard]] std::span<const WordSection> word_sections();
/// Returns the reference of words as Markdown (`sluice --help-words`).
[[nodiscard]] std::string word_reference();

}  // namespace sluice::proxy
