#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace sluice::admin {

inline constexpr double kilo = 1e-3;
inline constexpr double mega = 1e-6;

/// Column of a table that sluicectl prints as text.
struct Column {
  std::string_view title;
  std::string_view key;  ///< key of the column's values in the answer

  /// factor that converts the value to the unit in the title; 0 for no conversion
  double scale = 0;
};

inline constexpr std::array bearer_columns{
    Column{"ue", "ue"},
    Column{"mode", "mode"},
    Column{"flows", "flows"},
    Column{"steered_by", "steered_by"},
    Column{"rate_Mbps", "mean_rate_bps", mega},
    Column{"queue_kB", "queue_bytes", kilo},
    Column{"delay_ms", "queue_delay_ms", 1},
    Column{"flight_kB", "in_flight_bytes", kilo},
    Column{"held_kB", "held_bytes", kilo},
    Column{"fallbacks", "fallbacks"},
};
/// Column that is added to the table of bearers if cross traffic of some bearer waits until the controller allows it.
/// Cross traffic consists of packets of no tracked connection, such as QUIC.
inline constexpr std::array waiting_columns{
    Column{"waits_kB", "cross_traffic_waiting_bytes", kilo},
};
/// Column that is added to the table of bearers if the long-term rate of a link is known. It is measured while a policy
/// advises a share of it (scone_link_share).
inline constexpr std::array long_term_columns{
    Column{"long_term_Mbps", "long_term_rate_bps", mega},
};
/// Columns that are added to the table of bearers if smvs.uplink has dropped or marked packets of some UE. Packets that
/// would be dropped or marked in mode observe count, too.
inline constexpr std::array uplink_columns{
    Column{"uplink_ms", "uplink_wait_ms", 1},
    Column{"signals", "uplink_signals"},
};
/// Columns that mode observe adds to the table of bearers. In this mode no decision is applied. The columns have the
/// window that the observed controller computes, and the queueing delay that it aims at.
inline constexpr std::array observed_columns{
    Column{"would_kB", "observed_window_bytes", kilo},
    Column{"would_ms", "observed_delay_ms", 1},
};
inline constexpr std::array flow_columns{
    Column{"ue", "ue"},
    Column{"server", "server"},
    Column{"phase", "phase"},
    Column{"state", "radio_state"},
    Column{"radio_ms", "radio_srtt_ms", 1},
    Column{"core_ms", "core_srtt_ms", 1},
    Column{"flight_kB", "radio_in_flight_bytes", kilo},
    Column{"held_kB", "radio_held_bytes", kilo},
    Column{"rexmit", "radio_retransmissions"},
};
inline constexpr std::array passing_columns{
    Column{"ue", "ue"},
    Column{"server", "server"},
    Column{"protocol", "protocol"},
    Column{"passes_for", "passes_for"},
    Column{"about_MB", "bytes", mega},
    Column{"rate_Mbps", "rate_bps", mega},
    Column{"last_seen_s", "last_seen_s", 1},
};
inline constexpr std::array top_bearer_columns{
    Column{"ue", "ue"},
    Column{"mode", "mode"},
    Column{"steered_by", "steered_by"},
    Column{"flows", "flows"},
    Column{"rate_Mbps", "rate_bps", mega},
    Column{"link_Mbps", "link_bps", mega},
    Column{"queue_kB", "queue_bytes", kilo},
    Column{"delay_ms", "delay_ms", 1},
    Column{"flight_kB", "in_flight_bytes", kilo},
};
inline constexpr std::array top_flow_columns{
    Column{"ue", "ue"},
    Column{"server", "server"},
    Column{"phase", "phase"},
    Column{"rate_Mbps", "rate_bps", mega},
    Column{"waits_kB", "queue_bytes", kilo},
    Column{"radio_ms", "delay_ms", 1},
    Column{"flight_kB", "in_flight_bytes", kilo},
    Column{"rexmit", "retransmissions"},
};

/// Table that sluicectl prints as text, and the place of its rows in the answer.
struct ColumnTable {
  std::string_view command;
  std::string_view rows;  ///< path of a row in the answer, as in AnswerField::path
  std::span<const Column> columns;
};
inline constexpr std::array column_tables{
    ColumnTable{"bearers", "[]", bearer_columns},          ColumnTable{"bearers", "[]", waiting_columns},
    ColumnTable{"bearers", "[]", long_term_columns},       ColumnTable{"bearers", "[]", uplink_columns},
    ColumnTable{"bearers", "[]", observed_columns},        ColumnTable{"flows", "[]", flow_columns},
    ColumnTable{"flows --passing", "[]", passing_columns}, ColumnTable{"top", "bearers.[]", top_bearer_columns},
    ColumnTable{"top", "flows.[]", top_flow_columns},
};

}  // namespace sluice::admin
