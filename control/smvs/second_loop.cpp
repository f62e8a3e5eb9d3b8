#include "control/smvs/second_loop.hpp"

#include <algorithm>

namespace sluice::control {

SmvsParameters sliding_mode(const SecondLoopParameters& parameters) {
  SmvsParameters law = parameters.sliding;
  law.reference = parameters.reference;
  law.frame = parameters.frame;
  law.minimum_reference = parameters.minimum_reference;
  law.initial_allowance = parameters.initial;
  law.buffer = Bytes{};
  law.prediction = Prediction::measured;
  return law;
}

SmvsObservation as_queue(const SecondLoopObservation& seen) {
  SmvsObservation queue;
  queue.now = seen.now;
  queue.queue = seen.buffered;
  queue.arrived = seen.received;
  queue.in_flight = seen.advertised;
  queue.round_trip = std::max(seen.server_rtt, Duration::zero());
  return queue;
}

}  // namespace sluice::control
