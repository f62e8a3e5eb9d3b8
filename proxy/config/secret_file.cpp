#include "proxy/config/secret_file.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "proxy/yaml/yaml.hpp"

namespace sluice::config {

std::optional<std::string> read_secret(Section& s, const std::string& key, const std::string& path) {
  constexpr std::size_t longest = 4096;
  std::vector<Error> errors;
  std::string text = read_text(path, longest, errors);
  s.check(errors.empty(), key, "a readable file", errors.empty() ? "" : errors.front().to_string());
  if (!errors.empty()) return std::nullopt;
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

bool open_to_others(const std::string& path) {
  using std::filesystem::perms;
  std::error_code failure;
  const perms permissions = std::filesystem::status(path, failure).permissions();
  return !failure && (permissions & (perms::others_read | perms::others_write)) != perms::none;
}

}  // namespace sluice::config
