#include "proxy/config/config.hpp"

namespace sluice::proxy {

config::Loaded<Config> load_config(const std::string& file) {
  return config::load<Config>(file);
}

config::Loaded<Config> parse_config(std::string_view text, const std::string& file) {
  return config::parse<Config>(text, file);
}

std::string config_reference() {
  return "# Configuration of `sluice`\n\nWritten by `sluice --help-config`. A file is YAML; unknown keys are refused. "
         "Durations, sizes and rates carry their unit.\n\n" +
         config::reference<Config>();
}

std::string print_config(const Config& config, config::Secrets secrets) {
  return config::print(config, secrets);
}

}  // namespace sluice::proxy
