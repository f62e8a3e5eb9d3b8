// What came, compared with what a script expects.

#include "tests/conformance/match.hpp"

#include <algorithm>

#include "tests/conformance/host.hpp"

namespace sluice::conformance {
namespace {

std::string difference_of_options(const Segment& expected, const std::map<std::uint8_t, Octets>& options) {
  for (const std::uint8_t absent : expected.absent) {
    if (options.count(absent) != 0) return "option " + std::to_string(absent) + " is there";
  }
  for (const Octets& option : expected.options) {
    if (option.size() < 2) continue;
    const auto found = options.find(option.front());
    if (found == options.end()) return "option " + std::to_string(option.front()) + " is not there";
    if (!std::equal(option.begin() + 2, option.end(), found->second.begin(), found->second.end())) {
      return "option " + std::to_string(option.front());
    }
  }
  return "";
}

std::string difference_of_fields(const Segment& expected, const Wire& wire) {
  const auto differs = [](const auto& wanted, auto value) { return wanted && *wanted != value; };
  if (differs(expected.ack, wire.ack)) return "acknowledgement";
  if (differs(expected.window, wire.window)) return "window";
  if (differs(expected.urgent, wire.urgent)) return "urgent pointer";
  if (differs(expected.ecn, wire.tos & 3U)) return "ECN field";
  if (differs(expected.dscp, wire.tos >> 2U)) return "DSCP";
  if (differs(expected.hops, wire.hops)) return "TTL";
  if (wire.family == 4 && differs(expected.dont_fragment, wire.dont_fragment)) return "DF";
  if (expected.tags && *expected.tags != wire.tags) return "tags";
  return "";
}

}  // namespace

std::string difference_of(const Octets& frame, const Octets& expected) {
  if (frame == expected) return "";
  const auto at = std::mismatch(frame.begin(), frame.end(), expected.begin(), expected.end()).first - frame.begin();
  return "octet " + std::to_string(at) + " differs";
}

std::string difference_of(const Octets& frame, const Segment& expected, bool to_ue) {
  const auto read = conformance::read(frame);
  if (!read) return "no TCP segment";
  const Wire& wire = read->wire;
  const std::uint16_t compared = (expected.flags & bit::psh) != 0 ? 0x1ff : 0x1ff & ~bit::psh;  // PSH is its sender's
  if (((wire.flags ^ expected.flags) & compared) != 0) return "flags";
  if (wire.seq != expected.seq) return "sequence number";
  if (wire.payload.size() != expected.length) return "length";
  for (std::uint32_t at = 0; at < expected.length; ++at) {
    if (wire.payload[at] != stream_octet(!to_ue, wire.seq + at)) return "octet " + std::to_string(at);
  }
  const std::string fields = difference_of_fields(expected, wire);
  return fields.empty() ? difference_of_options(expected, options_of(wire)) : fields;
}

}  // namespace sluice::conformance
