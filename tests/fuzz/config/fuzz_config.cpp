// Configuration files are read by a privileged program: whatever they hold, the reader answers with a value or with
// errors, and what it accepts it can print and read back.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "proxy/config/config.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  const std::string text(data, data + size);
  const auto loaded = proxy::parse_config(text, "fuzz.yaml");
  require(loaded.value.has_value() == loaded.errors.empty());
  for (const config::Error& error : loaded.errors) require(!error.what.empty());
  if (!loaded) return 0;
  const std::string printed = proxy::print_config(*loaded, config::Secrets::show);
  const auto again = proxy::parse_config(printed, "printed.yaml");
  require(again.value.has_value());
  require(proxy::print_config(*again, config::Secrets::show) == printed);
  return 0;
}
