#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/daemon/status/counter_watch.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Appends a counter of bytes for each way in which frames are processed. For frames that are forwarded unchanged,
/// appends one for each reason.
void add_traffic_counters(const Counters& counters, std::vector<NamedCounter>& out);
/// Returns the bytes for each way in which frames are processed, and the controlled share in percent. It is the part
/// `traffic` of `sluicectl status`.
[[nodiscard]] admin::Json traffic_summary(const Counters& counters);
/// Returns the answer of `sluicectl traffic`: a row with bytes for each way in which frames are processed, and for each
/// reason; the largest first.
[[nodiscard]] admin::Json traffic_rows(const Counters& counters);
/// Returns the answer of `sluicectl flows --passing`: at most `limit` of the flows, the largest first.
[[nodiscard]] admin::Json passing_rows(std::vector<PassingInfo> flows, std::size_t limit, Instant now);
/// Returns the name of an IP protocol, with the protocol that its port suggests, such as "udp (QUIC by its port)".
[[nodiscard]] std::string name_of_protocol(const PassingInfo& flow);

}  // namespace sluice::proxy
