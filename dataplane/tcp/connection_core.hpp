#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/recovery_state.hpp"
#include "dataplane/tcp/send_queue.hpp"
#include "dataplane/tcp/state.hpp"

namespace sluice::tcp {

/// State of a connection that both directions share: its configuration, its state of RFC 9293 section 3.3.2, and the
/// options that the handshake negotiated.
///
/// Invariants: a connection without a configuration is closed, and `on_fast_path()` is true only in ESTABLISHED. The
/// send queue is part of this class because it has the pointer to the RecoveryState, in which the receiver also stores
/// out-of-order data.
///
/// First of the classes that an Endpoint consists of: ConnectionCore, Timers, Receiver, Sender, Handshake, Endpoint.
/// Each class is the base of the next, so all share one `this` pointer and no call passes a reference to another part.
/// Each class has private state and calls only the classes before it.
class ConnectionCore {
 public:
  /// Smallest MSS of a peer that an endpoint can apply; a smaller MSS option counts as this value. It leaves 52 bytes
  /// of payload beside timestamps.
  static constexpr std::uint16_t smallest_mss = 64;

  ConnectionCore(const ConnectionCore&) = delete;
  ConnectionCore& operator=(const ConnectionCore&) = delete;

  [[nodiscard]] State state() const { return bits_.state; }
  [[nodiscard]] CloseReason close_reason() const { return bits_.close_reason; }
  /// True if the connection is established and there is no loss, reordering, probe or pending FIN.
  [[nodiscard]] bool on_fast_path() const { return bits_.on_fast_path; }
  /// True if both FINs are acknowledged or the connection has ended in another way. The endpoint then sends at most
  /// ACKs.
  [[nodiscard]] bool is_over() const { return bits_.state == State::time_wait || bits_.state == State::closed; }
  /// True if both FINs are acknowledged.
  [[nodiscard]] bool has_finished() const {
    return bits_.state == State::time_wait ||
           (bits_.state == State::closed && bits_.close_reason == CloseReason::finished);
  }
  /// True if the endpoint has a RecoveryState, the state that is needed only for recovery, reordering and urgent data.
  [[nodiscard]] bool has_recovery_state() const { return send_.recovery_state() != nullptr; }
  /// True if both hosts negotiated the TCP timestamps option in the handshake.
  [[nodiscard]] bool uses_timestamps() const { return bits_.use_timestamps; }
  [[nodiscard]] bool uses_sack() const { return bits_.use_sack; }
  /// Returns the shift count of the peer's window fields (RFC 7323 section 2.2).
  [[nodiscard]] unsigned snd_shift() const { return bits_.snd_shift; }
  [[nodiscard]] bool uses_ecn() const { return bits_.use_ecn; }
  [[nodiscard]] bool uses_accurate_ecn() const { return bits_.use_ecn && accurate_ecn() != nullptr; }
  /// Returns the ECN counters of a connection that agreed on accurate ECN feedback (RFC 9768); null on others.
  [[nodiscard, gnu::cold, gnu::noinline]] AccurateEcn* accurate_ecn() const;

 protected:
  ConnectionCore() = default;
  ~ConnectionCore() { drop_recovery_state(); }

  /// True once the connection was opened, so config() may be called.
  [[nodiscard]] bool is_configured() const { return config_ != nullptr; }
  [[nodiscard]] const EndpointConfig& config() const { return *config_; }
  /// True if pacing or a model of the path limits the sender.
  [[nodiscard]] bool paced() const { return config_ != nullptr && config_->paced != nullptr; }
  /// Begins a connection with `config`: its state is closed, and no options are negotiated. The RecoveryState of an
  /// earlier connection must have been dropped before the call.
  void reset(const EndpointConfig& config) {
    config_ = &config;
    bits_ = Bits();
    local_mss_ = default_mss;
  }
  void set_state(State state) { bits_.state = state; }
  void set_close_reason(CloseReason reason) { bits_.close_reason = reason; }
  void leave_fast_path() { bits_.on_fast_path = false; }
  void set_fast_path(bool applies) { bits_.on_fast_path = applies; }
  /// Stores what the handshake has negotiated: options in use, and the shift count of the peer's window fields.
  void set_options(bool timestamps, bool sack, bool ecn, bool window_scale, unsigned snd_shift) {
    bits_.use_timestamps = timestamps;
    bits_.use_sack = sack;
    bits_.use_ecn = ecn;
    bits_.use_scale = window_scale;
    bits_.snd_shift = snd_shift & 15U;
  }
  /// True if both hosts negotiated window scaling in the handshake.
  [[nodiscard]] bool uses_window_scale() const { return bits_.use_scale; }
  /// Returns the MSS that this endpoint announces.
  [[nodiscard]] std::uint16_t local_mss() const { return local_mss_; }
  void set_local_mss(std::uint16_t mss) { local_mss_ = mss; }
  /// Returns the payload in bytes of a full segment to a peer whose MSS option is `mss`. TCP options that every segment
  /// contains are subtracted (RFC 6691).
  [[nodiscard]] std::uint16_t payload_within(std::uint16_t mss) const {
    return beside_options(std::max(mss, smallest_mss));
  }
  /// Returns `mss` less the bytes of the TCP options in every segment, at least 1 byte. If a segment with that 1 byte
  /// exceeds the port's MTU, the output (class Output) refuses it.
  [[nodiscard]] std::uint16_t beside_options(std::uint16_t mss) const {
    const unsigned options = bits_.use_timestamps ? timestamp_option : 0;
    return static_cast<std::uint16_t>(mss > options ? mss - options : 1);
  }

  [[nodiscard]] const RecoveryState& recovery_state() const {
    return has_recovery_state() ? *send_.recovery_state() : RecoveryState::none();
  }
  /// Returns the RecoveryState of this connection. Takes one from the pool if the connection has none.
  RecoveryState& ensure_recovery_state() {
    return has_recovery_state() ? *send_.recovery_state() : take_recovery_state();
  }
  /// Returns the RecoveryState to its pool. The caller ensures that no urgent data is pending, because the
  /// RecoveryState contains the sequence number at which that data ends.
  void drop_recovery_state() {
    if (has_recovery_state()) [[unlikely]]
      give_back_recovery_state();
  }
  [[gnu::cold, gnu::noinline]] void give_back_recovery_state();
  /// True if the RecoveryState is no longer needed: no packet is sacked or marked lost, no segment is stored out of
  /// order, and no SACK block is due. Retransmissions may still be in flight.
  [[nodiscard]] bool can_release_recovery_state() const;

  [[nodiscard]] const SendQueue& queue() const { return send_; }
  SendQueue& queue() { return send_; }
  /// Returns the send queue, for changing its SACK scoreboard. Requires a RecoveryState.
  SendQueue& scoreboard() {
    ensure_recovery_state();
    return send_;
  }

  /// Increments a counter, which stays at its largest value once it has reached it.
  static void count(std::uint16_t& counter) {
    if (counter < UINT16_MAX) ++counter;
  }

  static constexpr std::uint32_t largest_window_field = 65535;

 private:
  [[gnu::cold, gnu::noinline]] RecoveryState& take_recovery_state();

  static constexpr std::uint32_t timestamp_option = 12;  ///< bytes of a timestamp option, padding included
  static constexpr std::uint16_t default_mss = 536;      ///< MSS without an MSS option (RFC 9293 section 3.7.1)

  struct Bits {
    State state : 4 = State::closed;
    CloseReason close_reason : 3 = CloseReason::none;
    /// True if the fast paths for segments in order without loss apply, see Endpoint::update_fast_path().
    bool on_fast_path : 1 = false;
    bool use_timestamps : 1 = false;
    bool use_sack : 1 = false;
    bool use_ecn : 1 = false;
    std::uint8_t snd_shift : 4 = 0;
    bool use_scale : 1 = false;
  };

  const EndpointConfig* config_ = nullptr;
  [[no_unique_address]] SendQueue send_;
  Bits bits_;
  std::uint16_t local_mss_ = default_mss;
};

}  // namespace sluice::tcp
