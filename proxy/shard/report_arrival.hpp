#pragma once

#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// One authenticated record of a report, with what its datagram's header says.
struct ReportArrival {
  control::feedback::BearerReport bearer;
  std::uint64_t sender = 0;  ///< sender id
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  Duration sender_time{};  ///< the sender's own clock; only differences mean anything
  Duration period{};       ///< Ts as advertised
};

/// A datagram of a Node-B that leaves out UEs of which nothing has changed has come: what that says of all of them.
struct SenderWord {
  std::uint64_t sender = 0;
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::uint64_t since = 0;  ///< nothing is missing of what it has sent from this number on
  Duration sender_time{};
  Duration period{};   ///< Ts as advertised
  Duration refresh{};  ///< each UE is reported so often at least
};

}  // namespace sluice::proxy
