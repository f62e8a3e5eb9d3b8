#include "proxy/split/young.hpp"

namespace sluice::proxy {
namespace {

/// Sets the flow's short-flow flag and updates the bearer's sums.
void set_young(Flow& flow, Bearer& bearer, bool young) {
  const FlowShare before = flow.share;
  flow.share.young = young;
  bearer.load.change(before, flow.share);
}

}  // namespace

void young::begin(Flow& flow, Bearer& bearer, Instant now) {
  if (!bearer.treatment().minds_young()) return;
  set_young(flow, bearer, true);
  bearer.expect_young(now);
}

void young::end(Flow& flow, Bearer& bearer, Instant now) {
  set_young(flow, bearer, false);
  bearer.end_young(now);
}

}  // namespace sluice::proxy
