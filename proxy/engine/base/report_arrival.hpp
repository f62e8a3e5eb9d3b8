#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// One authenticated record of a Node-B's report, with the header fields of its datagram.
struct ReportArrival {
  control::feedback::BearerReport bearer;
  std::uint64_t sender = 0;  ///< sender id of the Node-B that sent the report
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  Duration sender_time{};  ///< time of sending on the Node-B's clock; only differences are meaningful
  Duration period{};       ///< reporting period Ts that the Node-B announced
};

/// Header of a report that leaves out UEs whose state has not changed. The notice applies to all UEs of the sending
/// Node-B.
struct OmissionNotice {
  std::uint64_t sender = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t since = 0;  ///< sequence number from which on every datagram of the sender was received
  Duration sender_time{};
  Duration period{};   ///< reporting period Ts that the Node-B announced
  Duration refresh{};  ///< longest time between two reports of a UE, as the Node-B announced
};

}  // namespace sluice::proxy
