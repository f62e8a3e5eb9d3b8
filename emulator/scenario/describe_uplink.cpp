#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using config::Scalar;
using config::Section;
using namespace std::chrono_literals;

}  // namespace

void describe(Section& s, ConfiguredGrant& grant) {
  s.value("period", grant.period, {100us, 10s}, "period of a UE's grants");
  s.value("size", grant.size, {Bytes(1), Bytes(65'535)}, "size of each grant on the air");
}

void describe(Section& s, DrxParameters& drx) {
  s.value("inactivity", drx.inactivity, {0s, 10s},
          "time awake after the last downlink assignment, uplink grant or request");
  s.value("on", drx.on, {1ms, 10s}, "time awake at the start of every cycle");
  s.value("cycle", drx.cycle, {1ms, 1min}, "DRX cycle; the cycles of the UEs begin at equal distances");
  s.check(drx.on <= drx.cycle, "on", "at most cycle", Scalar<Duration>::format(drx.on));
}

void describe(Section& s, ScheduledUplinkSpec& uplink) {
  s.value("request_period", uplink.request_period, {100us, 10s},
          "period of scheduling requests of a UE: 1ms to 80ms in TS 36.213 table 10.1.5-1");
  s.value("response", uplink.response, {0s, 100ms},
          "time from a request, or a block with a buffer status report, to the resulting grant");
  s.value("grant_delay", uplink.grant_delay, {100us, 100ms},
          "time from a grant to its block: 4ms in TS 36.213 section 8, k2 slots in TS 38.214 section 6.1.2.1");
  s.value("retry", uplink.retry, {1ms, 1h},
          "time without a grant after a block until a UE requests again: retxBSR-Timer of TS 36.331");
  s.value("rate", uplink.rate, {Rate::bits_per_second(1000), fastest_link},
          "rate of all resource blocks, for UEs without their own uplink; their queues have the defaults of an empty "
          "uplink section");
  s.value("resource_blocks", uplink.resources.blocks, {1, 1000}, "resource blocks of a TTI: 50 for 10 MHz of LTE");
  s.value("users_per_tti", uplink.resources.sharers, {1, 1000},
          "most UEs with a grant in a TTI, chosen round robin with equal shares");
  s.value("first_grant", uplink.resources.first_grant, {Bytes(1), Bytes(65'535)},
          "size of the grant that answers a request, because a request contains no amount");
  s.value("block_errors", uplink.block_errors, {0, 1},
          "share of blocks lost at every attempt; channels with transport blocks have their own error model");
  s.section("harq", uplink.air,
            "hybrid ARQ, reordering and RLC on the way up; TS 36.213 section 8, TS 36.331 section 9.2");
  s.section("configured_grant", uplink.configured,
            "periodic grants for every UE without a request: TS 38.321 section 5.8.2, TS 36.321 section 5.10");
  s.section("drx", uplink.drx,
            "discontinuous reception, TS 36.321 section 5.7: downlink packets wait for the UE's next cycle or its "
            "request; not set: UEs are always awake");
}

void describe(Section& s, UplinkLineSpec& line) {
  describe(s, static_cast<HopSpec&>(line));
  s.section("scheduled", line.scheduled,
            "UEs request grants before they use the line, as in LTE and NR; not set: they send without grants");
}

}  // namespace sluice::emulator
