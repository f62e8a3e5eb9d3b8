#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/cell/cell.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator::test {

/// A cell, served round robin, and what reaches its UEs.
class OneCell {
 public:
  explicit OneCell(Duration tti) : cell(loop, tti, std::make_unique<RoundRobin>(), ues) {}

  /// Sends `packets` packets of `length` IP bytes to a UE, now.
  void send(const IpAddress& to, int packets, std::size_t length) {
    for (int i = 0; i < packets; ++i) cell.receive(frame(to, length), loop.now());
  }
  /// When packets reached UEs, in ms.
  [[nodiscard]] std::vector<double> arrivals() const {
    std::vector<double> times;
    for (const auto& entry : ues.entries) times.push_back(to_milliseconds(entry.at.time_since_epoch()));
    return times;
  }

  const IpAddress the_ue = address("10.45.0.2");
  EventLoop loop;
  Recorder ues;
  Cell cell;
};

/// A UE behind hybrid ARQ, with a queue of 40-byte frames.
inline UeConfig behind_arq(const IpAddress& ue, std::unique_ptr<Channel> channel) {
  UeConfig config;
  config.address = ue;
  config.queue = {Bytes(40), BufferUnit::frames, 0};
  config.channel = std::move(channel);
  config.air.emplace();
  return config;
}

}  // namespace sluice::emulator::test
