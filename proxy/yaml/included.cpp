// Loads a configuration from a file, the files that it includes, and the environment. config::load() calls it.
// Invariant: the number of files and the limits of each bound memory and work, because a file cannot include itself. A
// variable is inserted as text and never parsed as YAML.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "proxy/yaml/document.hpp"

namespace sluice::config {
namespace {

/// Maximum number of files that one configuration may consist of.
constexpr std::size_t most_files = 64;

/// Sets the file number in the position of `node` and of all values below it.
void stamp(Node& node, std::size_t file) {
  node.place.file = file;
  for (Node& item : node.items) stamp(item, file);
  for (Entry& entry : node.entries) {
    entry.place.file = file;
    stamp(entry.value, file);
  }
}

/// Adds the keys of `over` to `into`. If both contain a key and both values are maps, these are merged. Otherwise the
/// value in `over` replaces the one in `into`, unless it is empty (null).
void merge(Node& into, Node over) {
  for (Entry& entry : over.entries) {
    const auto known = std::find_if(into.entries.begin(), into.entries.end(),
                                    [&entry](const Entry& each) { return each.key == entry.key; });
    if (known == into.entries.end()) {
      into.entries.push_back(std::move(entry));
    } else if (known->value.kind == Node::Kind::map && entry.value.kind == Node::Kind::map) {
      merge(known->value, std::move(entry.value));
    } else if (entry.value.kind != Node::Kind::null) {
      *known = std::move(entry);
    }
  }
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// Reads all files of one configuration.
class Loader {
 public:
  Loader(std::vector<Error>& errors, const DocumentLimits& limits) : errors_(errors), limits_(limits) {}

  [[nodiscard]] Node load(const std::string& file) {
    Node root = read(file);
    root.included_files.assign(files_.begin() + 1, files_.end());
    return root;
  }

 private:
  void fail(const Place& place, std::string what, std::string expected, std::string got) {
    errors_.push_back({files_.at(place.file), place, std::move(what), std::move(expected), std::move(got)});
  }

  Node read(const std::string& file) {
    const std::size_t number = files_.size();
    files_.push_back(file);
    std::vector<Error> problems;
    const std::string text = read_text(file, limits_.bytes, problems);
    Node root;
    root.kind = Node::Kind::map;
    if (problems.empty()) root = parse_document(text, file, problems, limits_);
    for (Error& problem : problems) {
      problem.place.file = number;
      errors_.push_back(std::move(problem));
    }
    stamp(root, number);
    substitute(root);
    return with_included(std::move(root), file);
  }

  /// Returns the map in a file, merged with the maps in the files that its key `include` names.
  Node with_included(Node root, const std::string& file) {
    const auto at = std::find_if(root.entries.begin(), root.entries.end(),
                                 [](const Entry& entry) { return entry.key == "include"; });
    if (root.kind != Node::Kind::map || at == root.entries.end()) return root;
    const Entry include = std::move(*at);
    root.entries.erase(at);
    std::vector<Node> names = include.value.items;
    if (include.value.kind == Node::Kind::scalar) names = {include.value};
    const bool are_texts =
        std::all_of(names.begin(), names.end(), [](const Node& name) { return name.kind == Node::Kind::scalar; });
    if (names.empty() || !are_texts) {
      fail(include.place, "include", "a file or a list of files", include.value.to_string());
      return root;
    }
    stack_.push_back(canonical(file));
    Node merged;
    merged.kind = Node::Kind::map;
    merged.place = root.place;
    for (const Node& name : names) {
      if (std::optional<Node> part = included(name, file)) merge(merged, std::move(*part));
    }
    stack_.pop_back();
    merge(merged, std::move(root));
    return merged;
  }

  /// Returns the map in the file `name`, which the file `by` includes, or nothing after an error.
  std::optional<Node> included(const Node& name, const std::string& by) {
    const std::filesystem::path path = std::filesystem::path(by).parent_path() / name.text;
    const std::string canonical_path = canonical(path);
    const bool is_cycle = std::find(stack_.begin(), stack_.end(), canonical_path) != stack_.end();
    std::vector<Error> problems;
    if (is_cycle) {
      fail(name.place, "include", "a file that does not include this one", name.to_string());
    } else if (files_.size() >= most_files) {
      fail(name.place, "include", "at most " + std::to_string(most_files) + " files in all", name.to_string());
    } else if (static_cast<void>(read_text(path.string(), limits_.bytes, problems)); !problems.empty()) {
      fail(name.place, "include", "a file that can be read", name.to_string() + " (" + problems.front().what + ")");
    } else if (Node part = read(path.string()); part.kind != Node::Kind::map) {
      fail(part.place, "the file", "a map of keys and values", part.to_string());
    } else {
      return part;
    }
    return std::nullopt;
  }

  static std::string canonical(const std::filesystem::path& path) {
    std::error_code problem;
    const std::filesystem::path found = std::filesystem::weakly_canonical(path, problem);
    return problem ? path.string() : found.string();
  }

  /// Replaces ${NAME} by the value of the environment variable NAME in `node` and in all values below it.
  void substitute(Node& node) {
    if (node.kind == Node::Kind::scalar) node.text = substituted(node);
    for (Node& item : node.items) substitute(item);
    for (Entry& entry : node.entries) substitute(entry.value);
  }

  std::string substituted(const Node& node) {
    std::string text;
    std::string_view rest = node.text;
    while (true) {
      const std::size_t begin = rest.find("${");
      if (begin == std::string_view::npos) return text.append(rest);
      if (begin > 0 && rest[begin - 1] == '$') {  // $${ is ${ itself
        text.append(rest.substr(0, begin - 1)).append("${");
        rest.remove_prefix(begin + 2);
        continue;
      }
      text.append(rest.substr(0, begin));
      rest.remove_prefix(begin + 2);
      const std::size_t end = rest.find('}');
      const std::string name(rest.substr(0, end));
      if (end == std::string_view::npos || !is_name(name)) {
        fail(node.place, "${", "the name of an environment variable and }; $${ stands for ${ itself", node.to_string());
        return node.text;
      }
      rest.remove_prefix(end + 1);
      text.append(variable(node.place, name));
    }
  }

  std::string variable(const Place& place, const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) {
      fail(place, "${" + name.substr(0, 80) + "}", "an environment variable that is set", "");
      return {};
    }
    std::string text(value);
    const bool has_control =
        std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (has_control || text.size() > limits_.bytes) {
      fail(place, "${" + name.substr(0, 80) + "}", "a variable of one line without control characters", "");
      return {};
    }
    return text;
  }

  std::vector<Error>& errors_;
  const DocumentLimits& limits_;
  std::vector<std::string> files_;  ///< names of the files read so far; the first one is the main file
  /// canonical paths of the files that are being read: the main file, the file that it includes, and so on
  std::vector<std::string> stack_;
};

}  // namespace

Node load_document(const std::string& file, std::vector<Error>& errors, const DocumentLimits& limits) {
  Node root = Loader(errors, limits).load(file);
  // If a file could not be read, the tree is emptied. Otherwise the reader would also report the keys of that file as
  // missing.
  if (!errors.empty() && root.kind == Node::Kind::map) root.entries.clear();
  return root;
}

const std::string& file_of(const Node& root, const Place& place, const std::string& file) {
  return place.file == 0 || place.file > root.included_files.size() ? file : root.included_files[place.file - 1];
}

}  // namespace sluice::config
