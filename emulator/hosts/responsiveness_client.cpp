// Responsiveness probes of a built-in UE: requests on lasting, possibly loaded connections and on fresh ones.
// BuiltInUes creates one client per application of this type.
// Source: draft-ietf-ippm-responsiveness, without TLS. Invariant: the two kinds of probes alternate, and outstanding
// probes per connection are bounded.

#include "emulator/hosts/responsiveness_client.hpp"

#include <utility>

namespace sluice::emulator {
namespace {

/// Largest number of outstanding probes per connection. If this number is outstanding, because the link is stalled, no
/// further probes are sent.
constexpr std::size_t max_waiting = 1000;

}  // namespace

/// One of the client's connections that stay open for many probes. The connection may also carry an endless download.
class ResponsivenessClient::Kept final : public Application {
 public:
  Kept(Host& host, const ResponsivenessConfig& config, FlowLog& log, Instant now)
      : host_(host), loaded_(config.loaded), log_(log) {
    record_.application = "responsiveness";
    record_.opened = now;
    record_.set_ends(host.connect(config.server, config.port, *this, now).addresses());
  }

  void probe(Instant now) {
    if (connection_ == nullptr || waiting_.size() >= max_waiting) return;
    connection_->send(FrameHead{FrameHead::Kind::probe, next_}.encode());
    waiting_.emplace(next_++, now);
    host_.push(connection_->number(), now);
  }

  void on_open(Connection& connection, Instant now) override {
    connection_ = &connection;
    record_.connected = now;
    if (loaded_) connection.send(FrameHead{FrameHead::Kind::stream, 0}.encode());
  }

  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override {
    const packet::Addresses& addresses = connection.addresses();
    const PayloadPattern pattern = server_pattern(addresses.dst_port, addresses.src_port);
    while (!bytes.empty()) {
      const FrameReader::Piece piece = reader_.next(bytes);
      if (piece.damaged || !pattern.matches(record_.bytes, piece.data)) record_corrupted();
      record_.bytes += piece.data.size();
      if (now >= log_.count_from) record_.measured += piece.data.size();
      if (piece.head && piece.head->kind == FrameHead::Kind::probe) answered(piece.head->value, now);
    }
  }

  void on_closed(Connection& connection, Instant now) override {
    ++log_.failures;  // the client never closes the connection itself
    on_run_end(connection, now);
    connection_ = nullptr;
  }

  void on_run_end(Connection& connection, Instant now) override {
    record_.finished = now;
    record_.take_counters(connection.endpoint());
    log_.flows.push_back(record_);
  }

 private:
  void record_corrupted() {
    ++record_.corrupted;
    ++log_.corrupted;
  }
  void answered(std::uint64_t number, Instant now) {
    const auto asked = waiting_.find(number);
    if (asked == waiting_.end()) return record_corrupted();
    if (asked->second >= log_.count_from) log_.responsiveness.kept.push_back(now - asked->second);
    waiting_.erase(asked);
  }

  Host& host_;
  bool loaded_;
  FlowLog& log_;
  FlowRecord record_;
  Connection* connection_ = nullptr;  ///< null if not open
  FrameReader reader_;
  std::map<std::uint64_t, Instant> waiting_;  ///< send times of the probes without an answer yet, by number
  std::uint64_t next_ = 0;
};

/// A connection that is opened for one probe.
class ResponsivenessClient::Fresh final : public Application {
 public:
  explicit Fresh(FlowLog& log) : log_(log) { record_.application = "probe"; }

  void begin(Host& host, const ResponsivenessConfig& config, Instant now) {
    record_.opened = now;
    record_.set_ends(host.connect(config.server, config.port, *this, now).addresses());
  }
  [[nodiscard]] bool closed() const { return closed_; }

  void on_open(Connection& connection, Instant now) override {
    record_.connected = now;
    connection.send(FrameHead{FrameHead::Kind::probe, 0}.encode());
  }

  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant now) override {
    record_.bytes += bytes.size();
    if (record_.bytes < FrameHead::length || record_.finished != never) return;
    record_.finished = now;
    connection.finish();
    if (record_.opened < log_.count_from) return;
    log_.responsiveness.handshakes.push_back(record_.connected - record_.opened);
    log_.responsiveness.answers.push_back(now - record_.connected);
  }

  void on_closed(Connection& connection, Instant now) override {
    closed_ = true;
    if (record_.finished == never) ++log_.failures;
    on_run_end(connection, now);
  }

  void on_run_end(Connection& connection, Instant now) override {
    if (record_.finished == never) record_.finished = now;
    record_.take_counters(connection.endpoint());
    log_.flows.push_back(record_);
  }

 private:
  FlowLog& log_;
  FlowRecord record_;
  bool closed_ = false;
};

ResponsivenessClient::ResponsivenessClient(EventLoop& loop, Host& host, const ResponsivenessConfig& config,
                                           Random random, FlowLog& log)
    : loop_(loop), host_(host), config_(config), random_(random), log_(log) {
  loop_.at(config_.start, *this, begin_tag);
}

ResponsivenessClient::~ResponsivenessClient() = default;

void ResponsivenessClient::on_event(std::uint64_t tag, Instant now) {
  if (tag == begin_tag) return begin(now);
  fresh_.remove_if([](const Fresh& probe) { return probe.closed(); });
  probe(now);
}

void ResponsivenessClient::begin(Instant now) {
  for (std::uint32_t i = 0; i < config_.connections; ++i) {
    kept_.push_back(std::make_unique<Kept>(host_, config_, log_, now));
  }
  loop_.at(now + config_.interval, *this, probe_tag);
}

/// Sends the next probe, alternately on a new connection and on one that stays open.
void ResponsivenessClient::probe(Instant now) {
  if (std::exchange(fresh_next_, !fresh_next_)) {
    fresh_.emplace_back(log_).begin(host_, config_, now);
  } else {
    kept_[random_.below(kept_.size())]->probe(now);
  }
  loop_.at(now + config_.interval / 2, *this, probe_tag);
}

}  // namespace sluice::emulator
