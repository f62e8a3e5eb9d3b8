// Reads a tree of Node into the variables that describe() declares: the visitor of Section behind parse() and load().
// Reports every error with line and column, the expected values and the value found; unknown keys get a suggestion.
// Invariant: a value is assigned only if it is well-formed and within its range.
#include <algorithm>
#include <cassert>
#include <charconv>
#include <tuple>

#include "proxy/yaml/renamed.hpp"
#include "proxy/yaml/yaml.hpp"

namespace sluice::config {
namespace {

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

/// State shared by the readers of all maps in one file.
struct Reading {
  const Node& root;
  const std::string& file;
  std::vector<Error>& errors;
  std::vector<Error>& warnings;
  /// number of errors that check() has reported, which are also in the list of all errors
  std::size_t broken_rules = 0;

  /// Returns the number of errors that check() has not reported: missing, unknown and malformed keys.
  [[nodiscard]] std::size_t misread() const { return errors.size() - broken_rules; }
  void fail(Place place, std::string what, std::string expected, std::string got) {
    errors.push_back({file_of(root, place, file), place, std::move(what), std::move(expected), std::move(got)});
  }
};

/// Reads one YAML map into the variables of the keys that a function describe() declares.
class Reader final : public Section {
 public:
  Reader(Reading& shared, const Node& node, std::string path)
      : shared_(shared), node_(node), path_(std::move(path)), misread_before_(shared.misread()) {}

  /// Reports an error for each key in the file that was not declared. Must be called once, after describe().
  void finish() {
    for (const Entry& entry : node_.entries) {
      if (is_declared(entry.key)) continue;
      shared_.fail(entry.place, "unknown key '" + joined(path_, entry.key.substr(0, 80)) + "'", meant_by(entry.key),
                   "");
    }
  }

  void when(bool applies, std::string_view condition, const std::function<void()>& keys) override {
    if (applies || !inactive_.empty()) return keys();
    inactive_ = condition;
    keys();
    inactive_.clear();
  }

  void check(bool ok, std::string_view key, std::string_view expected, std::string_view got) override {
    if (ok || !reading() || !inactive_.empty()) return;
    shared_.errors.push_back(complaint(key, expected, got));
    ++shared_.broken_rules;
  }
  void advise(bool ok, std::string_view key, std::string_view expected, std::string_view got) override {
    if (!ok && reading() && inactive_.empty()) shared_.warnings.push_back(complaint(key, expected, got));
  }

  [[nodiscard]] bool reading() const override { return shared_.misread() == misread_before_; }
  [[nodiscard]] std::string file() const override { return shared_.file; }
  [[nodiscard]] std::string file_with(std::string_view key) const override {
    return file_of(shared_.root, place_of(node_, key), shared_.file);
  }
  [[nodiscard]] std::string key_of(const void* variable) const override {
    const auto at = std::find(variables_.begin(), variables_.end(), variable);
    return at != variables_.end() ? declared_.at(static_cast<std::size_t>(at - variables_.begin())) : std::string();
  }

 protected:
  void scalar(const Field& field, const ScalarSpec& spec) override {
    if (const Entry* entry = look_up(field)) assign(entry->value, joined(path_, field.key), spec);
  }

  void scalar_list(const Field& field, const ListSpec& spec) override {
    const Entry* entry = look_up(field);
    if (entry == nullptr || !is_list(*entry, field, spec.min_size, spec.max_size)) return;
    spec.clear();
    for (std::size_t i = 0; i < entry->value.items.size(); ++i) {
      assign(entry->value.items[i], element(field, i), spec.append());
    }
  }

  void map(const Field& field, const std::function<void(Section&)>& body) override {
    static const Node none = [] {
      Node node;
      node.kind = Node::Kind::map;
      return node;
    }();
    const Entry* entry = look_up(field);
    if (!inactive_.empty()) return;
    if (entry != nullptr) return descend(entry->value, joined(path_, field.key), body);
    if (field.required) return;  // its absence is already reported, and so would be each of its keys
    Node absent = none;
    absent.place = node_.place;
    descend(absent, joined(path_, field.key), body);
  }

  void optional_map(const Field& field, bool, const std::function<void()>& emplace,
                    const std::function<void(Section&)>& body) override {
    const Entry* entry = look_up(field);
    if (entry == nullptr) return;
    emplace();
    descend(entry->value, joined(path_, field.key), body);
  }

  void section_list(const Field& field, const SectionListSpec& spec) override {
    const Entry* entry = look_up(field);
    if (entry == nullptr || !is_list(*entry, field, spec.min_size, spec.max_size)) return;
    spec.clear();
    for (std::size_t i = 0; i < entry->value.items.size(); ++i) {
      spec.append();
      descend(entry->value.items[i], element(field, i), [&](Section& below) { spec.describe(below, i); });
    }
  }

 private:
  [[nodiscard]] Error complaint(std::string_view key, std::string_view expected, std::string_view got) const {
    const Place place = place_of(node_, key);
    return {file_of(shared_.root, place, shared_.file), place, key.empty() ? path_ : joined(path_, key),
            std::string(expected), std::string(got)};
  }

  /// Returns the position of the element "key", "key[2]" or "key[2].below" in the file. If there is no such element,
  /// returns the position of the innermost existing element around it.
  static Place place_of(const Node& node, std::string_view key) {
    const std::size_t end = std::min(key.find_first_of(".["), key.size());
    const Entry* entry = node.find(key.substr(0, end));
    if (entry == nullptr) return node.place;
    std::string_view rest = key.substr(end);
    const Node* value = &entry->value;
    Place place = entry->place;
    if (rest.starts_with('[')) {
      const std::size_t close = std::min(rest.find(']'), rest.size() - 1);
      std::size_t index = 0;
      std::from_chars(rest.data() + 1, rest.data() + close, index);
      if (index >= value->items.size()) return place;
      value = &value->items[index];
      place = value->place;
      rest = rest.substr(close + 1);
    }
    return rest.starts_with('.') ? place_of(*value, rest.substr(1)) : place;
  }

  [[nodiscard]] bool is_declared(std::string_view key) const {
    return std::find(declared_.begin(), declared_.end(), key) != declared_.end();
  }

  /// Returns the entry in the file for a declared key, or null if there is none to be read. Reports an error if a
  /// required key is missing, or if the file contains a key that does not apply.
  const Entry* look_up(const Field& field) {
    declared_.emplace_back(field.key);
    variables_.push_back(field.variable);
    const Entry* entry = node_.find(field.key);
    if (entry != nullptr && !inactive_.empty()) {
      shared_.fail(entry->place, joined(path_, field.key), "this key only when " + inactive_, "");
      return nullptr;
    }
    if (entry == nullptr && field.required && inactive_.empty()) {
      shared_.fail(node_.place, "missing key '" + joined(path_, field.key) + "'", std::string(field.help), "");
    }
    return entry;
  }

  [[nodiscard]] std::string element(const Field& field, std::size_t index) const {
    return joined(path_, field.key) + "[" + std::to_string(index) + "]";
  }

  /// Returns advice for an unknown key: its new name, the most similar key, or a list of all keys.
  [[nodiscard]] std::string meant_by(const std::string& key) const {
    const std::string_view now = renamed_to(key);
    if (is_declared(now)) return "its new name '" + std::string(now) + "'";
    const std::string guess = nearest(key, declared_);
    return guess.empty() ? "one of " + known_keys() : "'" + guess + "'";
  }

  [[nodiscard]] std::string known_keys() const {
    std::string text;
    for (const std::string& key : declared_) text += (text.empty() ? "" : ", ") + key;
    return text;
  }

  void assign(const Node& node, const std::string& name, const ScalarSpec& spec) {
    if (node.kind == Node::Kind::scalar && spec.assign(node.text)) return;
    shared_.fail(node.place, name, spec.range.empty() ? spec.kind : spec.kind + ", " + spec.range, node.to_string());
  }

  bool is_list(const Entry& entry, const Field& field, std::size_t min, std::size_t max) {
    const std::string name = joined(path_, field.key);
    if (entry.value.kind != Node::Kind::list) {
      shared_.fail(entry.value.place, name, "a list", entry.value.to_string());
      return false;
    }
    const std::size_t size = entry.value.items.size();
    if (size >= min && size <= max) return true;
    shared_.fail(entry.value.place, name, std::to_string(min) + " to " + std::to_string(max) + " elements",
                 std::to_string(size));
    return false;
  }

  void descend(const Node& node, const std::string& path, const std::function<void(Section&)>& body) {
    if (node.kind != Node::Kind::map && node.kind != Node::Kind::null) {
      return shared_.fail(node.place, path, "a map", node.to_string());
    }
    Reader below(shared_, node, path);
    body(below);
    below.finish();
  }

  Reading& shared_;
  const Node& node_;
  std::string path_;
  std::size_t misread_before_;
  std::vector<std::string> declared_;

  /// variable of each declared key, in the order of declaration
  std::vector<const void*> variables_;
  /// condition, in words, under which the keys that are being declared would apply; empty if they do apply
  std::string inactive_;
};

}  // namespace

namespace detail {

void read(std::string_view text, const std::string& file, const DocumentLimits& limits,
          const std::function<void(Section&)>& body, std::vector<Error>& errors, std::vector<Error>& warnings) {
  const Node root = parse_document(text, file, errors, limits);
  // After a syntax error the tree is incomplete. It is not checked, because keys that the file contains would be
  // reported as missing.
  if (!errors.empty() && root.entries.empty()) return;
  read(root, file, body, errors, warnings);
}

void read(const Node& root, const std::string& file, const std::function<void(Section&)>& body,
          std::vector<Error>& errors, std::vector<Error>& warnings) {
  Reading shared{root, file, errors, warnings};
  if (root.kind != Node::Kind::map) {
    shared.fail(root.place, "the file", "a map of keys and values", root.to_string());
    return;
  }
  Reader reader(shared, root, "");
  body(reader);
  reader.finish();
  const auto earlier = [](const Error& a, const Error& b) {
    return std::tie(a.place.file, a.place) < std::tie(b.place.file, b.place);
  };
  std::stable_sort(errors.begin(), errors.end(), earlier);
  std::stable_sort(warnings.begin(), warnings.end(), earlier);
}

}  // namespace detail
}  // namespace sluice::config
