#include "emulator/runtime/window_watch.hpp"

namespace sluice::emulator {

WindowWatch::WindowWatch(EventLoop& loop, const Scenario& scenario, const std::vector<std::unique_ptr<Host>>& servers)
    : loop_(loop), interval_(scenario.interval), started_(loop.now()) {
  for (const std::uint32_t server : scenario.output.windows) hosts_.push_back(servers.at(server).get());
  if (!hosts_.empty()) loop_.at(started_ + interval_, *this, 0);
}

void WindowWatch::on_event(std::uint64_t /*tag*/, Instant now) {
  for (const Host* host : hosts_) {
    host->for_each_connection([&](const Connection& connection) { look(connection, now); });
  }
  loop_.at(now + interval_, *this, 0);
}

void WindowWatch::look(const Connection& connection, Instant now) {
  const packet::Addresses& ours = connection.addresses();
  const tcp::Endpoint& endpoint = connection.endpoint();
  rows_.push_back({to_seconds(now - started_), ours.src.to_string(), ours.dst.to_string(), ours.dst_port,
                   static_cast<double>(endpoint.cwnd().count()), static_cast<double>(endpoint.snd_window().count()),
                   static_cast<double>(endpoint.in_flight().count()), endpoint.counters().timeouts});
}

}  // namespace sluice::emulator
