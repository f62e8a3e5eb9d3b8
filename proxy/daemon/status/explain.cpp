// Answers `sluicectl explain WORD` and writes the reference of words. The texts come from the tables of answers,
// phases, counters, metrics, reasons, modes, keys and commands. A word that is added to one of them is therefore
// explained without a change here.
#include "proxy/daemon/status/explain.hpp"

#include <algorithm>
#include <array>

#include "proxy/config/config.hpp"
#include "proxy/daemon/status/counter_texts.hpp"
#include "proxy/daemon/status/names.hpp"
#include "proxy/engine/base/phases.hpp"
#include "proxy/engine/base/release_reason.hpp"
#include "proxy/engine/policy/policy_settings.hpp"
#include "proxy/ops/admin/answers.hpp"
#include "proxy/ops/admin/columns.hpp"
#include "proxy/ops/admin/proxy_commands.hpp"

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

/// Returns the unit that the suffix of a column's title stands for, such as "in ms" for "_ms". Returns an empty text if
/// there is none.
std::string_view unit_of(std::string_view title) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> units{
      {{"_Mbps", "in Mb/s"}, {"_MB", "in MB"}, {"_kB", "in kB"}, {"_ms", "in ms"}}};
  for (const auto& [end, unit] : units) {
    if (title.ends_with(end)) return unit;
  }
  return {};
}

/// Returns the name under which a value of a command's answer is explained: "bearers.ue" for path "[].ue" of command
/// "bearers".
std::string word_of(std::string_view command, std::string_view path) {
  std::string word(command);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    std::string_view key = path.substr(0, end);
    if (key.ends_with('?')) key.remove_suffix(1);
    if (key != "[]") word.append(".").append(key);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return word;
}

/// Appends an explanation of each value in the answers to commands. Also appends each column title that differs from
/// its key.
void add_columns(std::vector<Explanation>& out) {
  for (const admin::AnswerField& field : admin::answer_fields()) {
    if (field.path.empty()) continue;
    out.push_back({word_of(field.command, field.path), "column", std::string(field.meaning)});
    for (const admin::ColumnTable& table : admin::column_tables) {
      if (table.command != field.command) continue;
      for (const admin::Column& column : table.columns) {
        if (field.path != std::string(table.rows) + "." + std::string(column.key) || column.title == column.key)
          continue;
        std::string meaning(field.meaning);
        if (const std::string_view unit = unit_of(column.title); !unit.empty()) meaning.append(", ").append(unit);
        out.push_back({word_of(field.command, std::string(table.rows) + "." + std::string(column.title)), "column",
                       std::move(meaning)});
      }
    }
  }
}

void add_phases(std::vector<Explanation>& out) {
  for (const PhaseText& phase : phase_table) out.push_back({std::string(phase.name), "phase", std::string(phase.text)});
}

void add_counters(std::vector<Explanation>& out) {
  for (const CounterDescription& counter : counter_descriptions())
    out.push_back({counter.name, "counter", std::string(counter.text)});
}

/// Returns the name of a metric family with the suffix that Prometheus' text format requires, such as _total.
std::string shown_name(std::string_view family, metrics::Kind kind) {
  return std::string(family) + (kind == metrics::Kind::counter ? "_total" : kind == metrics::Kind::info ? "_info" : "");
}

void add_metrics(std::vector<Explanation>& out) {
  for (const metrics::Family& family : metrics::described_families())
    out.push_back({shown_name(family.name, family.kind), "metric", std::string(family.help)});
  for (const CounterDescription& counter : counter_descriptions()) {
    const std::string family = metrics::metric_name(counter.name).family;
    if (metrics::family_of(family) == nullptr)
      out.push_back({shown_name(family, metrics::Kind::counter), "metric", std::string(counter.text)});
  }
}

void add_reasons(std::vector<Explanation>& out) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 0
#define X(name, text) +1
                       SLUICE_PROXY_RELEASE_REASONS(X) SLUICE_PROXY_RESET_REASONS(X) SLUICE_PROXY_BLOCKERS(X)
#undef X
                       >
      reasons{{
#define X(name, text) {#name, text},
          SLUICE_PROXY_RELEASE_REASONS(X) SLUICE_PROXY_RESET_REASONS(X) SLUICE_PROXY_BLOCKERS(X)
#undef X
      }};
  for (const auto& [name, text] : reasons) out.push_back({std::string(name), "reason", std::string(text)});
}

void add_keys(std::vector<Explanation>& out) {
  for (const config::KeyTable& table : config::key_tables<Config>()) {
    for (const config::KeyRow& row : table.rows) {
      const std::string range = row.range.empty() ? "" : ", " + row.range;
      out.push_back({table.path.empty() ? row.key : table.path + "." + row.key, "key",
                     row.meaning + " (" + row.kind + range + "; default: " + row.value + ")"});
    }
  }
}

/// True if `word` is a short form of the word that `of` explains. The short form is the part after the last dot or, for
/// a reason, after the first underscore. The two forms of a metric, with and without _total, are short forms of each
/// other.
bool is_short_for(const std::string& word, const Explanation& of) {
  const std::size_t dot = of.word.rfind('.');
  if (dot != std::string::npos && of.word.compare(dot + 1, std::string::npos, word) == 0) return true;
  const std::size_t prefix = of.word.find('_');
  if (of.kind == "reason" && prefix != std::string::npos && of.word.compare(prefix + 1, std::string::npos, word) == 0)
    return true;
  return of.kind == "metric" && (of.word + "_total" == word || word + "_total" == of.word);
}

}  // namespace

std::vector<Explanation> explanations() {
  std::vector<Explanation> all;
  add_columns(all);
  add_phases(all);
  add_reasons(all);
  add_counters(all);
  add_metrics(all);
  for (const ModeText& mode : mode_table) all.push_back({std::string(mode.key), "mode", std::string(mode.text)});
  for (const admin::Verb& verb : admin::proxy_verbs)
    all.push_back({std::string(verb.name), "command", std::string(verb.help)});
  add_keys(all);
  return all;
}

Answer explain(const std::vector<Explanation>& all, const std::string& word) {
  Json found = Json::array();
  const auto take = [&](auto matches) {
    for (const Explanation& each : all) {
      if (matches(each)) found.push_back({{"word", each.word}, {"kind", each.kind}, {"meaning", each.meaning}});
    }
  };
  take([&](const Explanation& each) { return each.word == word; });
  if (found.empty()) take([&](const Explanation& each) { return is_short_for(word, each); });
  if (!found.empty()) return Answer::success(std::move(found));
  std::vector<std::string> known;
  for (const Explanation& each : all) {
    const std::size_t dot = each.word.rfind('.');
    known.push_back((each.kind == "counter" || each.kind == "column") && dot != std::string::npos
                        ? each.word.substr(dot + 1)
                        : each.word);
  }
  return admin::unknown_word("word", word, admin::suggestion(word, known, "sluice --help-words lists all words"));
}

std::span<const WordSection> word_sections() {
  static constexpr std::array sections{
      WordSection{"column", "Values of answers",
                  "Each value is written with its command. Titles of columns in tables stand behind the value that "
                  "they show. `*` is "
                  "any name, such as that of a port. `sluicectl --schema` has the types of the values in `--json`."},
      WordSection{"phase", "Phases of a connection", "`sluicectl flows` shows the phase of each connection."},
      WordSection{"reason", "Reasons",
                  "`released_…` is why a split connection was handed back, `reset_…` why the proxy reset it. The rest "
                  "are why a "
                  "handback is delayed (`blocked_by`)."},
      WordSection{
          "counter", "Counters",
          "`sluicectl counters` shows them. A decision about a frame in a capture has the name of its counter, without "
          "`proxy.`."},
      WordSection{"metric", "Metrics", "The path `/metrics` of `metrics.listen` has them."},
      WordSection{"mode", "Modes", "`sluicectl modes` reports which of them the configuration allows."},
      WordSection{"command", "Commands of sluicectl", "sluicectl(1) has their arguments."}};
  return sections;
}

std::string word_reference() {
  const std::vector<Explanation> all = explanations();
  std::string text =
      "# Columns, counters, phases, reasons and metrics\n\nThis page is generated from the program's tables: `sluice "
      "--help-words`. A running program explains one word with `sluicectl explain WORD`.\n";
  const auto cell = [](std::string words) {
    for (std::size_t at = 0; (at = words.find('|', at)) != std::string::npos; at += 2) words.insert(at, "\\");
    return words;
  };
  for (const WordSection& section : word_sections()) {
    text.append("\n## ")
        .append(section.title)
        .append("\n\n")
        .append(section.text)
        .append("\n\n| word | meaning |\n| --- | --- |\n");
    for (const Explanation& each : all) {
      if (each.kind == section.kind) text += "| `" + each.word + "` | " + cell(each.meaning) + " |\n";
    }
  }
  return text;
}

}  // namespace sluice::proxy
