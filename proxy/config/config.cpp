// Loads, prints and compares configurations of the proxy. main.cpp, the reloader and `sluicectl config` call it.
// Invariant: a difference never contains a secret.
#include "proxy/config/config.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::config {

std::optional<proxy::PortRange> Scalar<proxy::PortRange>::parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::optional<std::uint16_t> first = parse_whole<std::uint16_t>(text.substr(0, dash));
  const std::optional<std::uint16_t> last =
      dash == std::string_view::npos ? first : parse_whole<std::uint16_t>(text.substr(dash + 1));
  if (!first || !last || *first == 0 || *last < *first) return std::nullopt;
  return proxy::PortRange{*first, *last};
}

std::string Scalar<proxy::PortRange>::format(const proxy::PortRange& value) {
  if (value.first == value.last) return std::to_string(value.first);
  return std::to_string(value.first) + "-" + std::to_string(value.last);
}

}  // namespace sluice::config

namespace sluice::proxy {
namespace {

using config::Node;

/// Appends the dotted path and the text of every scalar value below a node to `out`.
void flatten(const Node& node, const std::string& path, std::vector<std::pair<std::string, std::string>>& out) {
  for (const config::Entry& entry : node.entries) {
    flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) flatten(node.items[i], path + "." + std::to_string(i), out);
  if (node.kind == Node::Kind::scalar) out.emplace_back(path, node.text);
}

std::vector<std::pair<std::string, std::string>> values_of(const Config& config, config::Secrets secrets) {
  std::vector<config::Error> errors;
  std::vector<std::pair<std::string, std::string>> values;
  flatten(config::parse_document(print_config(config, secrets), "", errors), "", values);
  return values;
}

const std::string* find(const std::vector<std::pair<std::string, std::string>>& values, const std::string& key) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == key; });
  return at != values.end() ? &at->second : nullptr;
}

bool is_live(const std::string& key, const std::vector<std::string>& live) {
  return std::find(live.begin(), live.end(), key.substr(0, key.find('.'))) != live.end();
}

}  // namespace

config::Loaded<Config> load_config(const std::string& file) {
  return config::load<Config>(file);
}

config::Loaded<Config> parse_config(std::string_view text, const std::string& file) {
  return config::parse<Config>(text, file);
}

std::string config_reference() {
  return "# Configuration of `sluice`\n\nWritten by `sluice --help-config`. A file is YAML; unknown keys are refused. "
         "Durations, sizes and rates carry their unit.\n\n"
         "`include: [FILE, ...]` at the top level inserts the keys of other files, relative to the file that names "
         "them. A key "
         "of the file wins over one that it includes, a later file over an earlier one, and maps are merged. In "
         "values, "
         "`${NAME}` is replaced by the environment variable, which must be set, and `$${` stands for `${`. A path in "
         "an included "
         "file starts at the folder of the main file.\n\n" +
         config::reference<Config>();
}

std::string print_config(const Config& config, config::Secrets secrets) {
  return config::print(config, secrets);
}

std::vector<ConfigChange> difference(const Config& before, const Config& after) {
  const auto old_values = values_of(before, config::Secrets::show);
  const auto new_values = values_of(after, config::Secrets::show);
  const std::vector<std::string> live = config::live_keys<Config>();
  std::vector<ConfigChange> changes;
  const auto add = [&](const std::string& key, const std::string* old_value, const std::string* new_value) {
    const bool secret = key.ends_with(".secret");
    const auto shown = [&](const std::string* value) {
      return value == nullptr ? std::string("not set") : secret ? std::string("a secret") : *value;
    };
    changes.push_back({key, shown(old_value), shown(new_value), is_live(key, live)});
  };
  for (const auto& [key, value] : old_values) {
    const std::string* const now = find(new_values, key);
    if (now == nullptr || *now != value) add(key, &value, now);
  }
  for (const auto& [key, value] : new_values) {
    if (find(old_values, key) == nullptr) add(key, nullptr, &value);
  }
  return changes;
}

}  // namespace sluice::proxy
