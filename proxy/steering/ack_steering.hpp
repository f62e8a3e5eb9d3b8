#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "control/ack_clocked_window.hpp"
#include "control/feedback/report.hpp"
#include "control/peer_clock.hpp"
#include "control/report_check.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/flow.hpp"

namespace sluice::control {
class LawTrace;
}

namespace sluice::proxy {

class Bearer;

/// What one flow may send in its turn while others of the bearer wait.
inline constexpr Bytes turn{2 * 1500};
/// What young flows have together of a window while older ones wait, too: those that have sent less than
/// SmvsMode::short_flow.
inline constexpr double share_of_the_young = 0.8;

/// The part of a window that one of `waiting` flows has, of which `young` are young. All of one age have the same, and
/// no young one has less than an older one. Requires that itself it is among them.
[[nodiscard]] Bytes part_of(Bytes window, std::uint32_t waiting, std::uint32_t young, bool is_young);

/// The law that needs no report, of one bearer: what its split connections have under way to the UE together, and how
/// much that may be.
class AckClock {
 public:
  /// `trace`: where its owner has who wants to know what the law decides; null mostly.
  explicit AckClock(const control::AckClockedParameters& parameters, control::LawTrace* const* trace = &nobody)
      : law_(parameters), trace_(trace) {}
  ~AckClock();
  AckClock(const AckClock&) = delete;
  AckClock& operator=(const AckClock&) = delete;

  /// What may be sent now, as IP bytes.
  [[nodiscard]] Bytes room(Instant now) const { return std::max(law_.window(now) - flight_, Bytes{}); }
  /// When there is room for who waits although nothing is heard until then; `never` where nobody does or there is none.
  [[nodiscard]] Instant room_at(Instant now) const { return waiting_ > 0 ? law_.room_at(now, flight_) : never; }
  [[nodiscard]] Bytes flight() const { return flight_; }
  void add_flight(Bytes change) { flight_ += change; }
  /// Flows that would send more now if they had room: their own windows allow it.
  [[nodiscard]] std::uint32_t waiting() const { return waiting_; }
  void count_waiting(bool before, bool now) { waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// … and are young.
  [[nodiscard]] std::uint32_t young_waiting() const { return young_waiting_; }
  void count_young(bool before, bool now) { young_waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// Connections that pass end to end and whose servers the window holds back.
  struct Passing {
    std::uint32_t waiting = 0;
    std::uint32_t young = 0;  ///< … of these
  };
  Passing passing;
  /// IP bytes have gone to the UE that the window does not bound.
  void add_others(Bytes bytes) { others_ += bytes; }
  /// The UE has acknowledged; what others have sent since the last time goes into it.
  void hear(control::Acknowledged news);
  /// A report of the UE's queue. False when it is distrusted: nobody is to make anything of it.
  bool on_report(Instant now, const control::feedback::BearerReport& report);
  /// Something is about to be sent while nothing is under way.
  void resume(Instant now) {
    if (flight_ <= Bytes{}) tell_resumed(now);
  }
  /// The link begins with a known rate.
  void seed(Instant now, Rate rate);
  /// A connection is taken over that was let have so much under way.
  void take_over(Bytes under_way);
  /// The reports are another Node-B's from now on.
  void change_reporter() { check_.restart(); }
  /// What was acknowledged of late has contradicted them.
  [[nodiscard]] bool doubts_reports() const { return check_.doubtful(); }
  /// What is under way and waiting at the radio beyond what is to be there; negative when it is less.
  [[nodiscard]] Bytes excess() const { return flight_ - law_.window(); }
  [[nodiscard]] const control::AckClockedWindow& law() const { return law_; }

 private:
  static constexpr control::LawTrace* nobody = nullptr;

  template <typename Call, typename... Arguments>
  void ask(const Arguments&... arguments);
  void tell_resumed(Instant now);

  control::AckClockedWindow law_;
  control::ReportCheck check_;
  control::LawTrace* const* trace_;
  Bytes flight_;
  Bytes others_;
  std::uint32_t waiting_ = 0;
  std::uint32_t young_waiting_ = 0;
};

/// Connections of a bearer that have a use for more of its window: those that are split and have a backlog, and those
/// that pass end to end and whose servers it holds back.
struct Contenders {
  std::uint32_t all = 0;
  std::uint32_t young = 0;  ///< … of these
};
[[nodiscard]] Contenders contenders_for(const Bearer& bearer);
/// What every acknowledgement of a bearer's UE tells alike; the rest is the connection's. Requires that it listens.
[[nodiscard]] control::Acknowledged news_of(const Bearer& bearer, Instant now);

/// Feeds the law of each bearer from the acknowledgements of its connections, and shares its window among them: none
/// that waits has more than its part while another one wants it. The young have the larger part: what somebody waits
/// for is short more often than not. Knows what of a bearer's flight is each flow's. Thread: the shard's.
class AckSteering {
 public:
  explicit AckSteering(std::size_t most_flows) : shares_(most_flows) {}

  /// What the flow has under way has changed, perhaps: an acknowledgement, a loss, a timeout, a segment sent.
  [[gnu::noinline]] void sync(const Flow& flow, FlowId id, Bearer& bearer);
  /// The UE has acknowledged. Requires that the bearer listens.
  [[gnu::noinline]] void hear(const Flow& flow, FlowId id, Bearer& bearer, const tcp::AckNews& news, Instant now);
  /// What the flow may send now. `beyond_its_part`: nobody else has a use for it.
  [[nodiscard, gnu::noinline]] Bytes room(const Flow& flow, FlowId id, Bearer& bearer, bool beyond_its_part,
                                          Instant now);
  /// The same for data that has just come and goes on at once, if there is room for a segment of `least` IP bytes: it
  /// is one of those who wait. Where there is, note_passed() follows.
  [[nodiscard]] Bytes room_to_pass(const Flow& flow, FlowId id, Bearer& bearer, Bytes least, Instant now);
  /// It has gone on, and nothing of the flow waits to.
  void note_passed(const Flow& flow, FlowId id, Bearer& bearer);
  /// The flow waits, and is young.
  [[nodiscard]] bool young_waits(FlowId id) { return shares_[id].young_waits != 0; }
  /// The flow leaves its bearer.
  void forget(FlowId id, Bearer& bearer);

 private:
  static constexpr std::uint32_t most_flight = (1U << 30) - 1;

  struct Share {
    std::uint32_t flight : 30 = 0;      ///< IP bytes
    std::uint32_t waits : 1 = 0;        ///< it counts in AckClock::waiting() …
    std::uint32_t young_waits : 1 = 0;  ///< … and in AckClock::young_waiting()
    std::uint32_t payload = 0;          ///< what `flight` was worked out from
    control::PeerClock clock;
  };
  static void follow_flight(Share& share, const Flow& flow, AckClock& clock);
  static void follow_waits(Share& share, bool waits, const Flow& flow, const Bearer& bearer, AckClock& clock);
  static Share& follow(Share& share, const Flow& flow, const Bearer& bearer, AckClock& clock);
  [[nodiscard]] static Bytes part_of_room(const Share& share, Bytes room, Contenders contenders, std::uint32_t waiting,
                                          const Flow& flow, const AckClock& clock, Instant now);
  flow::LazyArray<Share> shares_;  ///< by FlowId; no memory where no bearer listens
};

}  // namespace sluice::proxy
