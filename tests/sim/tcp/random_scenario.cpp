// Draws random scenarios for the TCP simulations: options, paths and applications. A seed reproduces each of them.
#include "tests/sim/tcp/random_scenario.hpp"

#include <algorithm>
#include <iterator>

namespace sluice::test {

using std::chrono::milliseconds;

namespace {

tcp::SynOptions random_options(Random& random) {
  tcp::SynOptions options;
  options.mss = static_cast<std::uint16_t>(random.chance(0.7) ? 1460 : 300 + random.below(1000));
  options.has_window_scale = random.chance(0.8);
  options.window_scale = options.has_window_scale ? static_cast<std::uint8_t>(random.below(10)) : std::uint8_t{0};
  options.sack_permitted = random.chance(0.7);
  options.timestamps = random.chance(0.6);
  options.ecn = random.chance(0.5);
  return options;
}

Application random_application(Random& random, std::uint32_t largest_write) {
  Application app;
  app.to_send = random.chance(0.2) ? random.below(3) : random.below(300'000);
  app.largest_write = random.chance(0.8) ? largest_write : 1 + static_cast<std::uint32_t>(random.below(largest_write));
  if (app.largest_write < 200) app.to_send = std::min<std::uint64_t>(app.to_send, 20'000);
  app.send_buffer = 1500 + static_cast<std::uint32_t>(random.below(300'000));
  app.room = 2000 + static_cast<std::uint32_t>(random.below(300'000));
  if (random.chance(0.15)) app.room = 1 + static_cast<std::uint32_t>(random.below(2000));
  if (random.chance(0.2)) app.read_every = milliseconds(1 + static_cast<std::int64_t>(random.below(400)));
  app.random_room = random.chance(0.2);
  if (app.room < 100) app.to_send = app.to_send % 2000;
  return app;
}

}  // namespace

Impairment random_path(Random& random) {
  Impairment path;
  if (random.chance(0.7)) path.loss = static_cast<double>(random.below(100)) / 1000;
  if (random.chance(0.1)) path.loss = 0.3;
  if (random.chance(0.4)) path.duplication = static_cast<double>(random.below(100)) / 1000;
  if (random.chance(0.4)) path.reordering = static_cast<double>(random.below(200)) / 1000;
  if (random.chance(0.3)) path.marking = static_cast<double>(random.below(200)) / 1000;
  path.delay = milliseconds(1 + static_cast<std::int64_t>(random.below(100)));
  if (random.chance(0.3)) path.jitter = milliseconds(1 + static_cast<std::int64_t>(random.below(50)));
  return path;
}

Scenario random_scenario(std::uint64_t seed) {
  Random random(seed * 77 + 5);
  Scenario scenario;
  scenario.seed = seed;
  using tcp::CongestionAlgorithm;
  constexpr CongestionAlgorithm algorithms[] = {CongestionAlgorithm::cubic, CongestionAlgorithm::newreno,
                                                CongestionAlgorithm::bbr, CongestionAlgorithm::bbr3,
                                                CongestionAlgorithm::copa};
  scenario.config.congestion = algorithms[random.below(std::size(algorithms))];
  scenario.config.pacing = random.chance(0.2);
  scenario.config.max_retransmissions = 60;
  scenario.config.max_rto = std::chrono::seconds(5);
  scenario.config.time_wait = std::chrono::minutes(5);  // outlives every repetition of a FIN
  scenario.config.max_out_of_order = random.chance(0.1) ? 4 : 4096;
  scenario.options_a = random_options(random);
  scenario.options_b = random_options(random);
  scenario.a_to_b = random_path(random);
  scenario.b_to_a = random_path(random);
  const std::uint32_t mss = std::min(scenario.options_a.mss, scenario.options_b.mss) - 12U;
  scenario.a = random_application(random, mss);
  scenario.b = random_application(random, mss);
  // A room must be worth a unit of the window field; small rooms take small amounts.
  scenario.a.room = std::max<std::uint32_t>(scenario.a.room, 1U << scenario.options_a.window_scale);
  scenario.b.room = std::max<std::uint32_t>(scenario.b.room, 1U << scenario.options_b.window_scale);
  if (scenario.b.room < 100) scenario.a.to_send %= 2000;
  if (scenario.a.room < 100) scenario.b.to_send %= 2000;
  // Small packets fill the pool of buffers long before they fill a window.
  for (Application* app : {&scenario.a, &scenario.b}) {
    const std::uint32_t most = 2000 * std::min(scenario.a.largest_write, scenario.b.largest_write);
    app->send_buffer = std::min(app->send_buffer, most);
    app->room = std::min(app->room, std::max<std::uint32_t>(most, 1U << 10));
  }
  scenario.a.finish_after_peer = random.chance(0.2);
  scenario.b.finish_after_peer = !scenario.a.finish_after_peer && random.chance(0.2);
  scenario.taken_over = random.chance(0.5);
  scenario.allowance = random.chance(0.2);
  scenario.output_refusal = random.chance(0.2) ? 0.2 : 0;
  if (random.chance(0.3)) scenario.timestamp_clock = Duration::zero();
  for (Impairment* path : {&scenario.a_to_b, &scenario.b_to_a}) {
    if (!random.chance(0.3)) continue;
    path->stall_at = milliseconds(static_cast<std::int64_t>(random.below(2000)));
    path->stall_for = milliseconds(static_cast<std::int64_t>(random.below(2000)));
    path->spacing = std::chrono::microseconds(static_cast<std::int64_t>(random.below(2000)));
  }
  return scenario;
}

}  // namespace sluice::test
