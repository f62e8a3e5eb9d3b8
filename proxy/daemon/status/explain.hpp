#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// A word that appears in answers, tables, metrics, logs or files, with its meaning.
struct Explanation {
  std::string word;

  /// kind of the word: "column", "phase", "reason", "counter", "metric", "mode", "command" or "key"
  std::string_view kind;
  std::string meaning;
};

/// Returns every word that some table of the program explains. The texts come from those tables; only the kinds of
/// words are defined here.
[[nodiscard]] std::vector<Explanation> explanations();

/// Finds the explanations of a word. The word may be complete, without its prefix ("flows_split", "idle"), or the last
/// part of a key ("law"). Returns a list, because a word can be of several kinds. If none is found, returns a failure
/// that suggests the most similar word.
[[nodiscard]] admin::Answer explain(const std::vector<Explanation>& all, const std::string& word);

/// Section of the reference in which words of the program, such as counters and reasons, are explained.
struct WordSection {
  std::string_view kind;
  std::string_view title;
  std::string_view text;
};
/// Returns the sections of the reference of words that the program explains. Configuration keys are left out, because
/// they have a separate reference.
[[nodiscard]] std::span<const WordSection> word_sections();
/// Returns the reference of all words that the program explains, such as counters and reasons, as Markdown. `sluice
/// --help-words` prints it.
[[nodiscard]] std::string word_reference();

}  // namespace sluice::proxy
