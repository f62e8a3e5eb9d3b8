#pragma once

#include <cstdint>

namespace sluice::dpdk {

/// Scheduling of a poll thread: as an ordinary thread, or with priority over all ordinary threads (SCHED_FIFO).
enum class ThreadPriority : std::uint8_t { normal, real_time };

/// Gives the calling thread priority over all ordinary threads: SCHED_FIFO at its lowest priority, which threads that
/// it starts do not inherit. Returns false if not permitted; CAP_SYS_NICE or a limit of real-time priority
/// (RLIMIT_RTPRIO) is needed.
bool take_real_time_priority() noexcept;

}  // namespace sluice::dpdk
