// Scenario files: whatever they hold, the reader answers with a plan or with errors that name a place, and what it
// accepts it can print and read back.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "emulator/scenario/describe.hpp"
#include "emulator/scenario/plan.hpp"
#include "proxy/yaml/yaml.hpp"

namespace {

using namespace sluice;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Runs that the sweeps make, each of which is a scenario of its own: more would only test the fuzzer's memory.
constexpr std::size_t few = 64;

bool has_few_runs(const emulator::Scenario& scenario) {
  std::size_t runs = scenario.modes.size();
  for (const emulator::SweepSpec& sweep : scenario.sweep) {
    if (sweep.with.empty()) runs *= sweep.values.size();
    if (runs > few) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto loaded = config::parse<emulator::Scenario>(text, "fuzz.yaml");
  require(loaded.value.has_value() == loaded.errors.empty());
  for (const config::Error& error : loaded.errors) require(!error.what.empty());
  if (!loaded) return 0;
  const std::string printed = config::print(*loaded, config::Secrets::show);
  const auto again = config::parse<emulator::Scenario>(printed, "printed.yaml");
  require(again.value.has_value());
  require(config::print(*again, config::Secrets::show) == printed);
  if (!has_few_runs(*loaded)) return 0;
  const auto plan = emulator::parse_plan(text, "fuzz.yaml");
  require(plan.value.has_value() == plan.errors.empty());
  return 0;
}
