// Writes the reference of configuration keys: the visitor of Section behind config::key_tables() and reference().
// `sluice --help-config`, the manual page and `nodeb` use it. It visits the same declarations as the reader, so that
// the reference cannot differ from what is read.
#include "proxy/yaml/yaml.hpp"

namespace sluice::config {
namespace {

/// Returns the text with special characters escaped, for a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// Collects the table of the configuration reference for one map. The tables of nested maps follow it.
class Documenter final : public Section {
 public:
  explicit Documenter(std::string path) { own_.path = std::move(path); }

  [[nodiscard]] std::vector<KeyTable> take() {
    std::vector<KeyTable> tables;
    if (!own_.rows.empty()) tables.push_back(std::move(own_));
    for (KeyTable& table : below_) tables.push_back(std::move(table));
    return tables;
  }

  void when(bool, std::string_view condition, const std::function<void()>& keys) override {
    const std::string outer = condition_;
    condition_ = outer.empty() ? std::string(condition) : outer + " and " + std::string(condition);
    keys();
    condition_ = outer;
  }
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void advise(bool, std::string_view, std::string_view, std::string_view) override {}
  [[nodiscard]] bool reading() const override { return false; }

 protected:
  void scalar(const Field& field, const ScalarSpec& spec) override {
    const std::string value = !spec.present ? "not set" : "`" + (spec.current.empty() ? "\"\"" : spec.current) + "`";
    row(field, spec.name, spec.range, field.required ? "required" : value, spec.choices);
  }
  void scalar_list(const Field& field, const ListSpec& spec) override {
    std::string values;
    for (std::size_t i = 0; i < spec.size; ++i) values += (i == 0 ? "" : ", ") + spec.at(i).current;
    const std::size_t size = spec.size;
    const ScalarSpec item = spec.append();
    std::string range = count_text(spec.min_size, spec.max_size);
    if (!item.range.empty()) range += ", each " + item.range;
    row(field, "list of " + item.name, range,
        field.required ? "required"
        : size == 0    ? "empty"
                       : "`[" + values + "]`",
        item.choices);
  }
  void map(const Field& field, const std::function<void(Section&)>& body) override {
    row(field, "map", "", field.required ? "required" : "see below", "");
    descend(joined(field.key), field, body);
  }
  void optional_map(const Field& field, bool, const std::function<void()>&,
                    const std::function<void(Section&)>& body) override {
    row(field, "map", "", field.required ? "required" : "not set", "");
    descend(joined(field.key), field, body);
  }
  void section_list(const Field& field, const SectionListSpec& spec) override {
    row(field, "list of maps", count_text(spec.min_size, spec.max_size), field.required ? "required" : "empty", "");
    descend(joined(field.key) + "[]", field, spec.describe_default);
  }

 private:
  static std::string count_text(std::size_t min, std::size_t max) {
    return std::to_string(min) + " … " + std::to_string(max) + " elements";
  }
  [[nodiscard]] std::string joined(std::string_view key) const {
    return own_.path.empty() ? std::string(key) : own_.path + "." + std::string(key);
  }
  void row(const Field& field, const std::string& kind, const std::string& range, const std::string& value,
           const std::string& choices) {
    std::string meaning(field.help);
    if (!choices.empty()) meaning += " (" + choices + ")";
    if (!condition_.empty()) meaning += ". Only when " + condition_;
    own_.rows.push_back({std::string(field.key), kind, range, value, meaning});
  }
  void descend(const std::string& path, const Field&, const std::function<void(Section&)>& body) {
    Documenter documenter(path);
    body(documenter);
    for (KeyTable& table : documenter.take()) below_.push_back(std::move(table));
  }

  KeyTable own_;
  std::vector<KeyTable> below_;
  std::string condition_;
};

}  // namespace

std::vector<KeyTable> detail::key_tables(const std::function<void(Section&)>& body) {
  Documenter documenter("");
  body(documenter);
  return documenter.take();
}

std::string to_markdown(const std::vector<KeyTable>& tables) {
  std::string text;
  for (const KeyTable& table : tables) {
    text += "## " + (table.path.empty() ? std::string("Top level") : "`" + table.path + "`") +
            "\n\n| key | kind | range | default | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const KeyRow& row : table.rows) {
      text += "| `" + row.key + "` | " + cell(row.kind) + " | " + cell(row.range) + " | " + cell(row.value) + " | " +
              cell(row.meaning) + " |\n";
    }
    text += "\n";
  }
  return text;
}

}  // namespace sluice::config
