#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "control/feedback/session.hpp"

namespace sluice::control::feedback::test {

using Datagram = std::vector<std::uint8_t>;

inline Key test_key(std::uint32_t id = 7) {
  Key key{id, {}};
  for (std::uint8_t i = 0; i < 32; ++i) key.secret.push_back(static_cast<std::uint8_t>(i + (id - 7)));
  return key;
}

inline SessionConfig config(Role role, std::uint64_t sender, std::uint64_t epoch = 1) {
  SessionConfig result;
  result.role = role;
  result.sender = sender;
  result.epoch = epoch;
  result.keys = {test_key()};
  result.send_key = 7;
  return result;
}

/// Keeps what was sent.
struct Recorder final : DatagramSink {
  std::vector<Datagram> sent;
  void send(std::span<const std::uint8_t> datagram) override { sent.emplace_back(datagram.begin(), datagram.end()); }
};

/// Keeps what was handed over.
struct Collector final : RecordHandler {
  std::vector<Header> messages;
  std::vector<std::pair<Header, BearerReport>> reports;
  std::vector<std::pair<Header, BearerStatus>> statuses;
  void on_message(const Header& header) override { messages.push_back(header); }
  void on_report(const Header& header, const BearerReport& report) override { reports.emplace_back(header, report); }
  void on_status(const Header& header, const BearerStatus& status) override { statuses.emplace_back(header, status); }
};

inline auto tie(const BearerReport& r) {
  const auto clamp = r.clamp ? std::pair(r.clamp->mean_queue.count(), r.clamp->price.count()) : std::pair(-1L, -1L);
  return std::tuple(r.ue, r.state, r.queue, r.queue_frames, r.buffer, r.arrived, r.transmitted, r.delivered, r.dropped,
                    r.service_rate, r.mean_service_rate, r.active_flows, r.active_users, clamp, r.gwa_window,
                    r.allowance);
}

inline auto tie(const BearerStatus& s) {
  return std::tuple(s.ue, s.injected, s.applied_sequence, s.backlog, s.active_flows, s.allowance_left, s.reporter);
}

/// Anything a sender may say, extremes included.
inline BearerReport any_report(std::mt19937_64& random) {
  const auto wild = [&] { return random() >> (random() % 64); };
  const auto amount = [&] { return Bytes(wild() >> 1); };
  BearerReport r;
  if (random() % 2 == 0) {
    r.ue = IpAddress::v4(10, 45, static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()));
  } else {
    for (auto& octet : r.ue.octets) octet = static_cast<std::uint8_t>(random());
  }
  r.state = static_cast<RadioState>(random() % 4);
  r.queue = amount();
  r.queue_frames = static_cast<std::uint32_t>(wild());
  r.buffer = amount();
  r.arrived = wild();
  r.transmitted = wild();
  r.delivered = wild();
  r.dropped = wild();
  r.service_rate = Rate::bits_per_second(static_cast<double>(wild() >> 12));
  r.mean_service_rate = Rate::bits_per_second(static_cast<double>(wild() >> 12));
  r.active_flows = static_cast<std::uint32_t>(wild());
  r.active_users = static_cast<std::uint32_t>(wild());
  if (random() % 2 == 0) r.clamp = ClampPrice{amount(), Duration(static_cast<std::int64_t>(wild() >> 1))};
  if (random() % 2 == 0) r.gwa_window = amount();
  if (random() % 2 == 0) r.allowance = amount();
  return r;
}

inline BearerStatus any_status(std::mt19937_64& random) {
  const auto wild = [&] { return random() >> (random() % 64); };
  BearerStatus s;
  s.ue = IpAddress::v4(10, 45, static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()));
  s.injected = wild();
  s.applied_sequence = wild();
  s.backlog = Bytes(wild() >> 1);
  s.active_flows = static_cast<std::uint32_t>(wild());
  s.allowance_left = Bytes(wild() >> 1);
  if (random() % 2 == 0) s.reporter = wild();
  return s;
}

}  // namespace sluice::control::feedback::test
