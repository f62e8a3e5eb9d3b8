#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "emulator/hosts/application.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/framed_stream.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

struct ResponsivenessConfig {
  IpAddress server;
  std::uint16_t port = 443;
  Instant start{};
  std::uint32_t connections = 1;  ///< number of connections that are always open, which carry half of the probes; >= 1
  bool loaded = true;  ///< true: connections that are always open carry endless downloads; false: only probes

  /// Time between two probes of one kind (on new connections, or on those that stay open), > 0.
  Duration interval = std::chrono::milliseconds(100);
};

/// Measures responsiveness as in draft-ietf-ippm-responsiveness, by probes (small requests). Half of the probes are
/// sent on connections that are open all the time and load the link, half on new connections. The draft adds
/// connections until the result is stable. Here the number of connections is fixed, and the whole run after its warm-up
/// is measured.
class ResponsivenessClient final : public EventTarget {
 public:
  /// Creates a client that starts at `config.start`. `loop`, `host` and `log` must outlive it.
  ResponsivenessClient(EventLoop& loop, Host& host, const ResponsivenessConfig& config, Random random, FlowLog& log);
  ~ResponsivenessClient();
  ResponsivenessClient(const ResponsivenessClient&) = delete;
  ResponsivenessClient& operator=(const ResponsivenessClient&) = delete;

  void on_event(std::uint64_t tag, Instant now) override;

 private:
  static constexpr std::uint64_t begin_tag = 0;
  static constexpr std::uint64_t probe_tag = 1;
  class Kept;
  class Fresh;
  void begin(Instant now);
  void probe(Instant now);

  EventLoop& loop_;
  Host& host_;
  ResponsivenessConfig config_;
  Random random_;
  FlowLog& log_;
  std::vector<std::unique_ptr<Kept>> kept_;
  std::list<Fresh> fresh_;   ///< open connections that were each opened for one probe
  bool fresh_next_ = false;  ///< true if the next probe opens a new connection
};

}  // namespace sluice::emulator
