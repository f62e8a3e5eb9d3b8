// A capacity trace from anywhere: accepted and then replayed, or refused with a message; nothing else.

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "emulator/channel/trace.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::emulator;
  const std::string text(data, data + size);
  std::istringstream in(text);
  try {
    const auto trace = std::make_shared<const CapacityTrace>(CapacityTrace::read(in, "fuzz"));
    std::ostringstream out;
    trace->write(out);
    std::istringstream again(out.str());
    if (CapacityTrace::read(again, "again").milliseconds().size() != trace->milliseconds().size()) __builtin_trap();
    TraceChannel channel(trace, std::chrono::milliseconds(1));
    std::uint64_t granted = 0;
    for (std::uint64_t tti = 0; tti < 100; ++tti) {
      const bool useful = channel.next_useful(tti) == tti;
      const auto capacity = static_cast<std::uint64_t>(channel.at(tti).capacity.count());
      if (capacity > 0 && !useful) __builtin_trap();
      granted += capacity;
    }
    if (channel.offered_through(99) != granted) __builtin_trap();
  } catch (const TraceError&) {
    return 0;
  }
  return 0;
}
