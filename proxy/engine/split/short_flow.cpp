#include "proxy/engine/split/short_flow.hpp"

namespace sluice::proxy {
namespace {

/// Sets or clears the flag that the flow is short, and updates the numbers of short and long flows of its bearer.
void set_short_flow(Flow& flow, Bearer& bearer, bool short_flow) {
  const FlowShare before = flow.share;
  flow.share.short_flow = short_flow;
  bearer.load.change(before, flow.share);
}

}  // namespace

void short_flow::begin(Flow& flow, Bearer& bearer, Instant now) {
  if (!bearer.settings().prioritizes_short_flows()) return;
  set_short_flow(flow, bearer, true);
  bearer.expect_short_flow(now);
}

void short_flow::end(Flow& flow, Bearer& bearer, Instant now) {
  set_short_flow(flow, bearer, false);
  bearer.end_short_flow(now);
}

}  // namespace sluice::proxy
