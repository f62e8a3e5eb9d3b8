// Writes a configuration as YAML: the visitor of Section behind config::print() (`--print-config` and tests).
// Invariant: parse() reads the output back to an equal value if secrets are shown. Hidden secrets become comments.
#include <algorithm>

#include "proxy/yaml/yaml.hpp"

namespace sluice::config {
namespace {

std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// Returns the value of a key as YAML text. The text is quoted if YAML could otherwise read it as another type.
std::string written(const ScalarSpec& spec) {
  const auto harmless = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._/%+-").find(c) != std::string_view::npos;
  };
  const std::string& text = spec.current;
  const bool plain = !spec.quoted && !text.empty() && std::all_of(text.begin(), text.end(), harmless);
  return plain ? text : in_quotes(text);
}

/// Writes one map and all values in it as YAML.
class Printer final : public Section {
 public:
  Printer(std::string& out, Secrets secrets, std::string indent, std::string first)
      : out_(out), secrets_(secrets), indent_(std::move(indent)), lead_(std::move(first)) {}

  void when(bool applies, std::string_view, const std::function<void()>& keys) override {
    if (applies) keys();
  }
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void advise(bool, std::string_view, std::string_view, std::string_view) override {}
  [[nodiscard]] bool reading() const override { return false; }
  /// True if no key was written yet.
  [[nodiscard]] bool empty() const { return empty_; }

 protected:
  void scalar(const Field& field, const ScalarSpec& spec) override {
    if (!spec.present) return;
    if (field.secret && secrets_ == Secrets::hide) {
      out_ += indent_ + "# " + std::string(field.key) + " is not shown\n";
      return;
    }
    line(field.key, " " + written(spec));
  }
  void scalar_list(const Field& field, const ListSpec& spec) override {
    std::string text;
    for (std::size_t i = 0; i < spec.size; ++i) text += (i == 0 ? "" : ", ") + written(spec.at(i));
    line(field.key, " [" + text + "]");
  }
  void map(const Field& field, const std::function<void(Section&)>& body) override {
    line(field.key, "");
    Printer below(out_, secrets_, indent_ + "  ", indent_ + "  ");
    body(below);
  }
  void optional_map(const Field& field, bool present, const std::function<void()>&,
                    const std::function<void(Section&)>& body) override {
    if (present) map(field, body);
  }
  void section_list(const Field& field, const SectionListSpec& spec) override {
    line(field.key, spec.size == 0 ? " []" : "");
    for (std::size_t i = 0; i < spec.size; ++i) {
      Printer below(out_, secrets_, indent_ + "    ", indent_ + "  - ");
      spec.describe(below, i);
      if (below.empty()) out_ += indent_ + "  - {}\n";
    }
  }

 private:
  void line(std::string_view key, const std::string& rest) {
    out_ += std::exchange(lead_, indent_);
    out_ += key;
    out_ += ":" + rest + "\n";
    empty_ = false;
  }

  std::string& out_;
  Secrets secrets_;
  std::string indent_;
  std::string lead_;  ///< beginning of the next line: the indentation, with "- " before the first key of a list element
  bool empty_ = true;
};

}  // namespace

std::string detail::print(const std::function<void(Section&)>& body, Secrets secrets) {
  std::string out;
  Printer printer(out, secrets, "", "");
  body(printer);
  return out;
}

}  // namespace sluice::config
