#include "proxy/yaml/yaml.hpp"

namespace sluice::config {
namespace {

/// A Markdown table cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// Writes one map's table, and after it those of the maps below.
class Documenter final : public Section {
 public:
  explicit Documenter(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] std::string take() {
    std::string text;
    if (!rows_.empty()) {
      text = "## " + (path_.empty() ? std::string("Top level") : "`" + path_ + "`") + "\n\n" + intro_ +
             "| key | kind | range | default | meaning |\n| --- | --- | --- | --- | --- |\n" + rows_ + "\n";
    }
    return text + below_;
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
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }
  void row(const Field& field, const std::string& kind, const std::string& range, const std::string& value,
           const std::string& choices) {
    std::string meaning(field.help);
    if (!choices.empty()) meaning += " (" + choices + ")";
    if (!condition_.empty()) meaning += ". Only when " + condition_;
    rows_ += "| `" + std::string(field.key) + "` | " + cell(kind) + " | " + cell(range) + " | " + cell(value) + " | " +
             cell(meaning) + " |\n";
  }
  void descend(const std::string& path, const Field&, const std::function<void(Section&)>& body) {
    Documenter documenter(path);
    body(documenter);
    below_ += documenter.take();
  }

  std::string path_;
  std::string intro_;
  std::string rows_;
  std::string below_;
  std::string condition_;
};

}  // namespace

std::string detail::reference(const std::function<void(Section&)>& body) {
  Documenter documenter("");
  body(documenter);
  return documenter.take();
}

}  // namespace sluice::config
