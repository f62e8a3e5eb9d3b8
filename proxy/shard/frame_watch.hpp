#pragma once

#include "proxy/shard/arrival.hpp"
#include "proxy/shard/counters.hpp"

namespace sluice::proxy {

/// Somebody who looks at frames that come in, and at what becomes of them. Thread: the shard's.
class FrameWatch {
 public:
  /// A frame came in and is dealt with next, after which it is changed or gone. What becomes of it is then counted
  /// here.
  virtual void received(const Arrival& arrival, const Counters& counters) = 0;
  /// It has been dealt with.
  virtual void dealt_with() = 0;

 protected:
  ~FrameWatch() = default;
};

}  // namespace sluice::proxy
