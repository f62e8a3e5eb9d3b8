#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "emulator/hosts/application.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/size_distribution.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Rule that determines when a RequestClient sends its next request.
enum class RequestPace : std::uint8_t {
  after_answer,  ///< sends the next request an exponentially distributed think time after the last answer

  /// Sends a request at every interval, even if earlier ones are unanswered. This models telnet, or an on/off source
  /// with a constant rate.
  clocked
};

struct RequestConfig {
  std::string name = "request";  ///< application name in the results
  IpAddress server;
  std::uint16_t port = 80;
  Instant start{};
  RequestPace pace = RequestPace::after_answer;
  /// Mean think time if the next request is sent after the last answer (`after_answer`). If requests are sent regularly
  /// (`clocked`), the interval between them, > 0.
  Duration interval = std::chrono::seconds(1);
  SizeDistribution size;  ///< size of an answer
  Duration on{};   ///< mean length of the active periods (exponential) if requests are sent regularly; 0: always active
  Duration off{};  ///< mean length of the pauses between active periods if requests are sent regularly
};

/// Sends small requests repeatedly on one connection. Either each request follows the answer to the one before, or
/// requests are sent at a fixed interval. At a fixed interval they are sent all the time, as in telnet, or only in
/// active periods with pauses in between. Each answer is recorded as a fetch. A connection that ends is replaced after
/// a second.
class RequestClient final : public Application, public EventTarget {
 public:
  /// Creates a client that starts at `config.start`. `loop`, `host` and `log` must outlive it.
  RequestClient(EventLoop& loop, Host& host, RequestConfig config, Random random, FlowLog& log);

  void on_event(std::uint64_t tag, Instant now) override;
  void on_open(Connection& connection, Instant now) override;
  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override;
  void on_peer_finished(Connection& connection, Instant now) override;
  void on_closed(Connection& connection, Instant now) override;
  void on_run_end(Connection& connection, Instant now) override;

 private:
  enum Tag : std::uint64_t { connect_tag, ask_tag };
  struct Asked {
    Instant at{};
    std::uint64_t left = 0;
  };
  void ask(Instant now);
  void set_next(Instant now);
  void record(Connection& connection, Instant now);

  EventLoop& loop_;
  Host& host_;
  RequestConfig config_;
  Random random_;
  FlowLog& log_;
  FlowRecord record_;
  Connection* connection_ = nullptr;
  std::deque<Asked> asked_;  ///< incomplete answers, oldest first
  bool armed_ = false;       ///< true if the event that sends the next request is set
  Instant on_until_ = never;
};

}  // namespace sluice::emulator
