#include "proxy/yaml/error.hpp"

namespace sluice::config {

std::string Error::to_string() const {
  std::string text = file;
  if (place.line != 0) text += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  text += ": " + what;
  if (!expected.empty()) text += ", expected " + expected;
  if (!got.empty()) text += ", got " + got;
  return text;
}

std::string to_string(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) text += error.to_string() + "\n";
  return text;
}

}  // namespace sluice::config
