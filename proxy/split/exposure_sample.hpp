#pragma once

#include <cstdint>

#include "dataplane/flow/slab.hpp"
#include "proxy/flows/flow.hpp"
#include "proxy/shard/histogram.hpp"

namespace sluice::proxy {

/// How many bytes are acknowledged and not delivered, of each direction of the flows that were looked at. Thread: the
/// shard's.
class ExposureSample {
 public:
  /// Looks at up to `most` flows; others have their turn next.
  void take(const flow::Slab<Flow>& flows, std::uint32_t most);
  [[nodiscard]] const Histogram& bytes() const { return bytes_; }

 private:
  Histogram bytes_;
  FlowId next_ = 0;
};

}  // namespace sluice::proxy
