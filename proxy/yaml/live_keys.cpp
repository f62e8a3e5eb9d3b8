#include "proxy/yaml/yaml.hpp"

namespace sluice::config {
namespace {

/// Collects the names of those keys of one map that were declared live, that is, changeable while the program is
/// running. Keys of nested maps are not collected.
class LiveKeys final : public Section {
 public:
  explicit LiveKeys(std::vector<std::string>& out) : out_(out) {}

  void when(bool, std::string_view, const std::function<void()>& keys) override { keys(); }
  void check(bool, std::string_view, std::string_view, std::string_view) override {}
  void advise(bool, std::string_view, std::string_view, std::string_view) override {}
  [[nodiscard]] bool reading() const override { return false; }

 protected:
  void scalar(const Field& field, const ScalarSpec&) override { note(field); }
  void scalar_list(const Field& field, const ListSpec&) override { note(field); }
  void map(const Field& field, const std::function<void(Section&)>&) override { note(field); }
  void optional_map(const Field& field, bool, const std::function<void()>&,
                    const std::function<void(Section&)>&) override {
    note(field);
  }
  void section_list(const Field& field, const SectionListSpec&) override { note(field); }

 private:
  void note(const Field& field) {
    if (field.live) out_.emplace_back(field.key);
  }

  std::vector<std::string>& out_;
};

}  // namespace

std::vector<std::string> detail::live_keys(const std::function<void(Section&)>& body) {
  std::vector<std::string> keys;
  LiveKeys collector(keys);
  body(collector);
  return keys;
}

}  // namespace sluice::config
