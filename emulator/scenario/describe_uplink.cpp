#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using config::Scalar;
using config::Section;
using namespace std::chrono_literals;

}  // namespace

void describe(Section& s, ConfiguredGrant& grant) {
  s.value("period", grant.period, {100us, 10s}, "of a UE's grants");
  s.value("size", grant.size, {Bytes(1), Bytes(65'535)}, "of each, on the air");
}

void describe(Section& s, DrxParameters& drx) {
  s.value("inactivity", drx.inactivity, {0s, 10s}, "awake so long after the last grant, up or down, or request");
  s.value("on", drx.on, {1ms, 10s}, "awake so long at the start of every cycle");
  s.value("cycle", drx.cycle, {1ms, 1min}, "those of the UEs begin at even distances");
  s.check(drx.on <= drx.cycle, "on", "at most cycle", Scalar<Duration>::format(drx.on));
}

void describe(Section& s, ScheduledUplinkSpec& uplink) {
  s.value("request_period", uplink.request_period, {100us, 10s},
          "a UE may send a scheduling request so often: 1ms to 80ms in TS 36.213 table 10.1.5-1");
  s.value("response", uplink.response, {0s, 100ms},
          "from a request, or a block with a buffer status report, to the first grant that follows from it");
  s.value("grant_delay", uplink.grant_delay, {100us, 100ms},
          "from a grant to its block: 4ms in TS 36.213 section 8, k2 slots in TS 38.214 section 6.1.2.1");
  s.value("retry", uplink.retry, {1ms, 1h},
          "after a block a UE that is granted nothing for so long asks again: retxBSR-Timer of TS 36.331");
  s.value("rate", uplink.rate, {Rate::bits_per_second(1000), fastest_link},
          "of all resource blocks, for UEs without an uplink of their own; their queues are as those of an empty one");
  s.value("resource_blocks", uplink.resources.blocks, {1, 1000}, "of a TTI: 50 for 10 MHz of LTE");
  s.value("users_per_tti", uplink.resources.sharers, {1, 1000},
          "UEs that are granted some of a TTI at most, in turns and to even shares");
  s.value("first_grant", uplink.resources.first_grant, {Bytes(1), Bytes(65'535)},
          "what a UE is granted for a request, which does not say how much it has");
  s.value(
      "block_errors", uplink.block_errors, {0, 1},
      "share of blocks that is lost, at every attempt; not of channels with transport blocks, which have their own");
  s.section("harq", uplink.air,
            "hybrid ARQ, reordering and RLC on the way up; TS 36.213 section 8, TS 36.331 section 9.2");
  s.section("configured_grant", uplink.configured,
            "TTIs for every UE that it need not ask for: TS 38.321 section 5.8.2, TS 36.321 section 5.10");
  s.section("drx", uplink.drx,
            "UEs sleep, TS 36.321 section 5.7: what comes for one waits for its next cycle, or until it asks; when not "
            "set, they always listen");
}

void describe(Section& s, UplinkLineSpec& line) {
  describe(s, static_cast<HopSpec&>(line));
  s.section("scheduled", line.scheduled,
            "UEs ask for leave to send, as in LTE and NR, before they use the line; when not set, they just send");
}

}  // namespace sluice::emulator
