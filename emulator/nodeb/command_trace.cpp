#include <cstdio>
#include <sstream>

#include "emulator/channel/trace_generator.hpp"
#include "emulator/nodeb/commands.hpp"
#include "emulator/report/results_csv.hpp"

namespace sluice::emulator {

int command_trace(const TraceOptions& options) {
  TraceParameters parameters;
  parameters.mean = Rate::bits_per_second(options.mean_mbps * 1e6);
  parameters.speed_kmh = options.speed_kmh;
  parameters.mean_snr_db = options.snr_db;
  parameters.shadowing_db = options.shadowing_db;
  parameters.outage_every = from_seconds(options.outage_every_s);
  const CapacityTrace trace = generate_trace(parameters, options.seed, from_seconds(options.seconds));
  std::ostringstream text;
  trace.write(text);
  if (options.out.empty()) {
    std::fputs(text.str().c_str(), stdout);
    return exit_ok;
  }
  write_file(options.out, text.str());
  std::printf("%s: %zu opportunities in %.1f s, mean %.2f Mb/s\n", options.out.c_str(), trace.milliseconds().size(),
              to_seconds(trace.period()), trace.mean_rate().bps() / 1e6);
  return exit_ok;
}

}  // namespace sluice::emulator
