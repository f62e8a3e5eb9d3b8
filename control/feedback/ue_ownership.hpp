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

/// Reports that are sent to one proxy, or to all proxies.
struct RoutedReports {
  /// sender id of the proxy that holds these UEs; none if the reports go to all proxies
  std::optional<std::uint64_t> to;
  std::vector<BearerReport> reports;
};

/// Counts how often proxies gained or lost the assignment of a UE.
struct ClaimCounters {
  std::uint64_t begun = 0;  ///< number of claims by a proxy of UEs that no proxy held

  /// UEs claimed by one proxy while another one still held them, because the UE's path changed
  std::uint64_t moved = 0;
  std::uint64_t lapsed = 0;   ///< claims that expired because the holder sent no status of the UE for lease_time
  std::uint64_t refused = 0;  ///< statuses ignored because their UE had no entry and there was no space for one
};

/// Determines at the Node-B which of several proxies carries the traffic of each UE, from the proxies' status messages
/// (PROTOCOL.md, "Several proxies"). A proxy gets a UE that no proxy holds if it has flows, a backlog or sent bytes of
/// that UE. If a proxy has sent to a UE since its last status, it takes the UE from another proxy, because routers then
/// use its path. Any status of the current holder extends its claim. Reads no clock; times passed in must not decrease.
/// Thread: one.
class UeOwnership {
 public:
  /// Time after which a claim to a UE expires unless its holder sends a status of that UE.
  static constexpr Duration lease_time = std::chrono::seconds(2);
  /// Default of the largest number of UEs that are tracked at once.
  static constexpr std::size_t default_most_ues = 65'536;

  explicit UeOwnership(std::size_t max_ues = default_most_ues) : max_ues_(max_ues) {}

  /// Processes an authenticated status about a UE; `sender` is the sender id of its datagram. Returns true if this
  /// sender is now the proxy to which the UE's reports go.
  bool take(std::uint64_t sender, std::uint64_t epoch, const BearerStatus& status, Instant now);
  /// Returns the sender id of the proxy that holds the UE now; nothing if none does.
  [[nodiscard]] std::optional<std::uint64_t> holder(const IpAddress& ue, Instant now);
  /// Returns the reports grouped by destination. The first group has the reports for all proxies and may be empty; each
  /// other group is for one proxy. Valid until the next call.
  [[nodiscard]] std::span<const RoutedReports> route(std::span<const BearerReport> reports, Instant now);

  [[nodiscard]] const ClaimCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t ues() const { return ues_.size(); }

 private:
  /// Values of the last status that a proxy sent about a UE.
  struct Word {
    std::optional<std::uint64_t> sender;  ///< sender id of the proxy; none if this entry is unused
    std::uint64_t epoch = 0;
    std::uint64_t injected = 0;
    Instant last_rx{};
  };
  struct Ue {
    std::array<Word, 4> words;  ///< last status from each of up to four proxies; the oldest status is replaced
    std::optional<std::uint64_t> holder;  ///< sender id of the proxy that holds the UE
    Instant last_rx{};                    ///< time of the holder's last status of the UE
  };

  Ue* find_or_make(const IpAddress& ue, Instant now);
  void forget_silent(Instant now);
  /// Records a status of a UE. Returns true if its proxy has sent to the UE since that proxy's previous status of the
  /// UE.
  [[nodiscard]] static bool record(Ue& ue, const Word& reported);
  void expire_holder(Ue& ue, Instant now);
  [[nodiscard]] RoutedReports& way_to(std::uint64_t holder);

  std::size_t max_ues_;
  std::map<IpAddress, Ue> ues_;
  Instant walked_{};  ///< time of the last scan for UEs that could be removed
  std::vector<RoutedReports> ways_;
  std::size_t ways_used_ = 0;
  ClaimCounters counters_;
};

}  // namespace sluice::control::feedback
