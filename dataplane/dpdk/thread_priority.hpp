#pragma once

#include <cstdint>

namespace sluice::dpdk {

/// How the system ranks a poll thread among all that want a processor.
enum class ThreadPriority : std::uint8_t { normal, real_time };

/// Has the calling thread run before every ordinary one, whenever it does not sleep (SCHED_FIFO, the lowest of its
/// priorities; threads it starts are ordinary). False when the system does not allow it: that takes CAP_SYS_NICE or a
/// limit of real-time priority (RLIMIT_RTPRIO).
bool take_real_time_priority() noexcept;

}  // namespace sluice::dpdk
