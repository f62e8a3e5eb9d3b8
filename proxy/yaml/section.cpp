#include "proxy/yaml/section.hpp"

#include <filesystem>

namespace sluice::config {

std::string Section::resolve(const std::string& path) const {
  const std::filesystem::path given(path);
  return given.is_absolute() ? path : (std::filesystem::path(file()).parent_path() / given).string();
}

void Section::quantity(std::string_view key, double& value, std::string_view unit, const Range<double>& range,
                       std::string_view help) {
  const std::string suffix(unit);
  ScalarSpec spec;
  spec.kind = "a number and the unit " + suffix;
  spec.name = "number in " + suffix;
  spec.range = Scalar<double>::format(range.min) + suffix + " … " + Scalar<double>::format(range.max) + suffix;
  spec.current = Scalar<double>::format(value) + suffix;
  spec.assign = [&value, suffix, range](std::string_view text) {
    const std::optional<double> read = parse_quantity(text, suffix);
    if (!read || *read < range.min || *read > range.max) return false;
    value = *read;
    return true;
  };
  scalar(take(key, help, &value), spec);
}

}  // namespace sluice::config
