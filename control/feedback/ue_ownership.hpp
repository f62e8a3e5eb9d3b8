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
  /// sender id of the proxy to which these UEs are assigned; none if the reports go to all proxies
  std::optional<std::uint64_t> to;
  std::vector<BearerReport> reports;
};

/// Counts how often proxies gained or lost the assignment of a UE.
struct ClaimCounters {
  std::uint64_t begun = 0;  ///< number of assignments of a UE to a proxy while no proxy had the UE

  /// number of assignments of a UE to a proxy while another proxy had it, because the UE's path changed
  std::uint64_t moved = 0;
  /// Number of assignments that expired, because the proxy sent no status of the UE for lease_time.
  std::uint64_t lapsed = 0;
  std::uint64_t refused = 0;  ///< statuses ignored because their UE had no entry and there was no space for one
};

/// Determines at the Node-B which of several proxies carries the traffic of each UE, from the proxies' status messages
/// (PROTOCOL.md, "Several proxies"). An unassigned UE is assigned to a proxy whose status reports flows, a backlog or
/// sent bytes of that UE. The UE is reassigned if a status of another proxy shows that this proxy has sent to the UE
/// since its previous status. The routers then forward the UE's packets through that proxy. Any status of the assigned
/// proxy extends the assignment. Reads no clock; times passed in must not decrease. Not thread-safe.
class UeOwnership {
 public:
  /// Time after which the assignment of a UE to a proxy expires, unless that proxy sends a status of the UE.
  static constexpr Duration lease_time = std::chrono::seconds(2);
  /// Default of the largest number of UEs that are tracked at once.
  static constexpr std::size_t default_most_ues = 65'536;

  explicit UeOwnership(std::size_t max_ues = default_most_ues) : max_ues_(max_ues) {}

  /// Processes an authenticated status about a UE; `sender` and `epoch` are those of its datagram. In a new epoch the
  /// proxy's count of sent bytes begins at zero. Returns true if this sender is now the proxy to which the UE's reports
  /// go.
  bool take(std::uint64_t sender, std::uint64_t epoch, const BearerStatus& status, Instant now);
  /// Returns the sender id of the proxy to which the UE is assigned now; nothing if it is not assigned.
  [[nodiscard]] std::optional<std::uint64_t> holder(const IpAddress& ue, Instant now);
  /// Returns the reports grouped by destination. The first group has the reports for all proxies and may be empty; each
  /// other group is for one proxy. Valid until the next call.
  [[nodiscard]] std::span<const RoutedReports> route(std::span<const BearerReport> reports, Instant now);

  [[nodiscard]] const ClaimCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t ues() const { return ues_.size(); }

 private:
  /// Values of the last status message that a proxy sent about a UE.
  struct Word {
    std::optional<std::uint64_t> sender;  ///< sender id of the proxy; none if this entry is unused
    std::uint64_t epoch = 0;
    std::uint64_t injected = 0;
    Instant last_rx{};
  };
  struct Ue {
    std::array<Word, 4> words;  ///< last status from each of up to four proxies; the oldest status is replaced
    std::optional<std::uint64_t> holder;  ///< sender id of the proxy to which the UE is assigned
    Instant last_rx{};                    ///< time of the last status of the UE from the proxy to which it is assigned
  };

  Ue* find_or_make(const IpAddress& ue, Instant now);
  void forget_silent(Instant now);
  /// Records a status of a UE. Returns true if the proxy that sent the status has sent data to the UE since its
  /// previous status of this UE.
  [[nodiscard]] static bool record(Ue& ue, const Word& reported);
  void expire_holder(Ue& ue, Instant now);
  [[nodiscard]] RoutedReports& group_for(std::uint64_t holder);

  std::size_t max_ues_;
  std::map<IpAddress, Ue> ues_;
  Instant walked_{};  ///< time of the last scan for UEs that could be removed
  std::vector<RoutedReports> groups_;
  std::size_t groups_used_ = 0;
  ClaimCounters counters_;
};

}  // namespace sluice::control::feedback
