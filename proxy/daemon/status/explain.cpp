// Answers `sluicectl explain WORD`. The texts come from the tables of counters, metrics, reasons, modes, keys and
// commands. A word that is added to one of them is therefore explained without a change here.
#include "proxy/daemon/status/explain.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "dataplane/dpdk/clock.hpp"
#include "proxy/config/config.hpp"
#include "proxy/daemon/status/metrics_page.hpp"
#include "proxy/engine/policy/policy_settings.hpp"
#include "proxy/ops/admin/proxy_commands.hpp"

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

void add_counters(const StatusSource& status_source, std::vector<Explanation>& out) {
  for (const NamedCounter& counter : status_source.counters())
    out.push_back({counter.name, "counter", std::string(counter.text)});
}

/// Appends an explanation of each metric family, from the lines "# HELP NAME TEXT" of the metrics page.
void add_metrics(const StatusSource& status_source, std::vector<Explanation>& out) {
  constexpr std::string_view prefix = "# HELP ";
  std::istringstream page(write_metrics(status_source, {true, {}, dpdk::now()}, metrics::Format::text));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(prefix)) continue;
    const std::size_t end = line.find(' ', prefix.size());
    if (end == std::string::npos) continue;
    out.push_back({line.substr(prefix.size(), end - prefix.size()), "metric", line.substr(end + 1)});
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

/// True if `word` is a short form of the explained word: the part after the last dot or, for a reason, the part after
/// its first underscore. Tables show these short forms.
bool is_short_for(const std::string& word, const Explanation& of) {
  const std::size_t dot = of.word.rfind('.');
  if (dot != std::string::npos && of.word.compare(dot + 1, std::string::npos, word) == 0) return true;
  const std::size_t prefix = of.word.find('_');
  if (of.kind == "reason" && prefix != std::string::npos && of.word.compare(prefix + 1, std::string::npos, word) == 0)
    return true;
  return of.kind == "metric" && (of.word + "_total" == word || word + "_total" == of.word);
}

}  // namespace

std::vector<Explanation> explanations(const StatusSource& status_source) {
  std::vector<Explanation> all;
  add_counters(status_source, all);
  add_metrics(status_source, all);
  add_reasons(all);
  for (const ModeText& mode : mode_table) all.push_back({std::string(mode.key), "mode", std::string(mode.text)});
  add_keys(all);
  for (const admin::Verb& verb : admin::proxy_verbs)
    all.push_back({std::string(verb.name), "command", std::string(verb.help)});
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
    known.push_back(each.kind == "counter" && dot != std::string::npos ? each.word.substr(dot + 1) : each.word);
  }
  return admin::unknown_word("word", word,
                             admin::suggestion(word, known, "counters, modes, reasons, metrics and keys are known"));
}

}  // namespace sluice::proxy
