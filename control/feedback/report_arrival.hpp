#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

/// One report of a UE's radio queue that was received and accepted. The fields after `bearer` identify the sender and
/// the order of its reports. If the message format has no such fields, the source of the reports numbers them itself.
struct ReportArrival {
  BearerReport bearer;
  std::uint64_t sender = 0;    ///< id of the Node-B that sent the report, stable over its restarts
  std::uint64_t epoch = 0;     ///< epoch of the sender: increases with every restart
  std::uint64_t sequence = 0;  ///< sequence number of the message: increases with every message of the epoch, from 1
  Duration sender_time{};      ///< time of sending on the Node-B's clock; only differences are meaningful
  Duration period{};           ///< reporting period Ts that the Node-B announced
};

/// Notice that a Node-B omits UEs from its reports if their state has not changed. The notice applies to all UEs of
/// this Node-B.
struct OmissionNotice {
  std::uint64_t sender = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t since = 0;  ///< smallest sequence number from which on no datagram of the sender is missing
  Duration sender_time{};
  Duration period{};   ///< reporting period Ts that the Node-B announced
  Duration refresh{};  ///< longest time between two reports of a UE, as the Node-B announced
};

}  // namespace sluice::control::feedback
