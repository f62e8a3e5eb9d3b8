#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "control/feedback/codec.hpp"
#include "control/feedback/report.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

/// Reports that have the same way.
struct RoutedReports {
  std::optional<std::uint64_t> to;  ///< sender id of the proxy that holds these UEs; none: for all proxies
  std::vector<BearerReport> reports;
};

/// What became of claims, as counters of events.
struct ClaimCounters {
  std::uint64_t begun = 0;    ///< UEs that nobody held and somebody claimed
  std::uint64_t moved = 0;    ///< claims that a proxy took from one that held it still: the UE's path has changed
  std::uint64_t lapsed = 0;   ///< claims whose holder said nothing of the UE for too long
  std::uint64_t refused = 0;  ///< statuses of UEs for which there was no room
};

/// At the Node-B: which of several proxies holds a UE, by their statuses (PROTOCOL.md, "Several proxies"). A proxy
/// claims a UE that nobody holds when it has anything of it. It takes one that another proxy holds when it has sent to
/// the UE since its last status: the packets go where the routers send them, and nobody asks the proxies. Any status of
/// the holder keeps the claim. No clock inside; instants never go back. Thread: one.
///
/// It believes what it is told: statuses that come in have been authenticated. What a holder of the key can do is to
/// claim UEs, as it could send reports. Memory is bounded by `most_ues`, and a full table costs no more than one walk a
/// second.
class Claims {
 public:
  /// A claim holds for so long without a word of its holder.
  static constexpr Duration lapse = std::chrono::seconds(2);
  /// UEs that are remembered at most, where nothing else is asked for.
  static constexpr std::size_t default_most_ues = 65'536;

  explicit Claims(std::size_t most_ues = default_most_ues) : most_ues_(most_ues) {}

  /// An authenticated status and the sender of its datagram. True when this sender holds the UE now.
  bool take(std::uint64_t sender, std::uint64_t epoch, const BearerStatus& status, Instant now);
  /// Sender id of the proxy that holds the UE now.
  [[nodiscard]] std::optional<std::uint64_t> holder(const IpAddress& ue, Instant now);
  /// Reports in the order of their ways: first those for all, which may be none, then those of each holder. Valid until
  /// the next call.
  [[nodiscard]] std::span<const RoutedReports> route(std::span<const BearerReport> reports, Instant now);

  [[nodiscard]] const ClaimCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t ues() const { return ues_.size(); }

 private:
  /// What a proxy said last of a UE.
  struct Word {
    std::optional<std::uint64_t> sender;  ///< none: nothing was said
    std::uint64_t epoch = 0;
    std::uint64_t injected = 0;
    Instant heard{};
  };
  struct Ue {
    std::array<Word, 4> words;            ///< of several proxies; the one that was silent longest makes room
    std::optional<std::uint64_t> holder;  ///< sender id
    Instant heard{};                      ///< when the holder last spoke of the UE
  };

  Ue* find_or_make(const IpAddress& ue, Instant now);
  void forget_silent(Instant now);
  /// True when the proxy has sent to the UE since it last spoke of it.
  [[nodiscard]] static bool note(Ue& ue, const Word& said);
  void let_lapse(Ue& ue, Instant now);
  [[nodiscard]] RoutedReports& way_to(std::uint64_t holder);

  std::size_t most_ues_;
  std::map<IpAddress, Ue> ues_;
  Instant walked_{};  ///< when room was last looked for
  std::vector<RoutedReports> ways_;
  std::size_t ways_used_ = 0;
  ClaimCounters counters_;
};

}  // namespace sluice::control::feedback
