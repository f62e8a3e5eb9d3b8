#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/daemon/status/counter_watch.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Appends a counter for the bytes of each handling, with one for each reason of those that pass.
void add_traffic_counters(const Counters& counters, std::vector<NamedCounter>& out);
/// Returns the bytes by handling, and the controlled share of them in percent: the part `traffic` of `sluicectl
/// status`.
[[nodiscard]] admin::Json traffic_summary(const Counters& counters);
/// Returns the answer of `sluicectl traffic`: a row for each handling and reason with bytes, the largest first.
[[nodiscard]] admin::Json traffic_rows(const Counters& counters);
/// Returns the answer of `sluicectl flows --passing`: at most `limit` of the flows, the largest first.
[[nodiscard]] admin::Json passing_rows(std::vector<PassingInfo> flows, std::size_t limit, Instant now);
/// Returns the name of an IP protocol, with what its port stands for, such as "udp (QUIC by its port)".
[[nodiscard]] std::string name_of_protocol(const PassingInfo& flow);

}  // namespace sluice::proxy
