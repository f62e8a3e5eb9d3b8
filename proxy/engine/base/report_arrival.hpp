#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// One authenticated record of a report, with the header fields of its datagram.
struct ReportArrival {
  control::feedback::BearerReport bearer;
  std::uint64_t sender = 0;  ///< sender id of the Node-B
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  Duration sender_time{};  ///< clock of the sender; only differences are meaningful
  Duration period{};       ///< reporting period Ts as advertised
};

/// Header of a datagram from a Node-B that omits UEs whose state has not changed. It applies to all UEs of the
/// sender.
struct OmissionNotice {
  std::uint64_t sender = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t since = 0;  ///< every datagram from this number on has arrived
  Duration sender_time{};
  Duration period{};   ///< reporting period Ts as advertised
  Duration refresh{};  ///< longest time between two reports of a UE
};

}  // namespace sluice::proxy
