#pragma once

#include <cstdint>

namespace sluice::control::feedback {

// Numbers of PROTOCOL.md. A number must never be reused.

inline constexpr std::uint16_t poll_flag = 0x0001;
inline constexpr std::uint16_t accepts_changes_flag = 0x0002;
inline constexpr std::uint16_t accepts_large_flag = 0x0004;

enum class RecordKind : std::uint16_t { report = 1, status = 2, omission = 3 };

#define SLUICE_REPORT_FIELDS(X) \
  X(1, ue)                      \
  X(2, state)                   \
  X(3, queue)                   \
  X(4, queue_frames)            \
  X(5, buffer)                  \
  X(6, arrived)                 \
  X(7, transmitted)             \
  X(8, delivered)               \
  X(9, dropped)                 \
  X(10, service_rate)           \
  X(11, mean_service_rate)      \
  X(12, active_flows)           \
  X(13, active_users)           \
  X(14, clamp)                  \
  X(15, gwa_window)             \
  X(16, allowance)

#define SLUICE_STATUS_FIELDS(X) \
  X(1, ue)                      \
  X(2, injected)                \
  X(3, applied_sequence)        \
  X(4, backlog)                 \
  X(5, active_flows)            \
  X(6, allowance_left)          \
  X(7, reporter)

#define SLUICE_OMISSION_FIELDS(X) X(1, refresh)

#define X(number, name) name = number,
enum class ReportField : std::uint8_t { SLUICE_REPORT_FIELDS(X) };
enum class StatusField : std::uint8_t { SLUICE_STATUS_FIELDS(X) };
enum class OmissionField : std::uint8_t { SLUICE_OMISSION_FIELDS(X) };
#undef X

}  // namespace sluice::control::feedback
