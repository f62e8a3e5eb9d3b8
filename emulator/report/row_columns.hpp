#pragma once

#include <vector>

#include "emulator/report/columns.hpp"

// Columns of the tables with several rows per run, after the key columns.

namespace sluice::emulator {

[[nodiscard]] const std::vector<Column<SeriesPoint>>& point_columns();
[[nodiscard]] const std::vector<Column<UePoint>>& ue_columns();
[[nodiscard]] const std::vector<Column<FlowRow>>& flow_columns();
[[nodiscard]] const std::vector<Column<PacketRow>>& packet_columns();
[[nodiscard]] const std::vector<Column<QueueRow>>& queue_columns();
[[nodiscard]] const std::vector<Column<WindowRow>>& window_columns();
[[nodiscard]] const std::vector<Column<DropRow>>& drop_columns();

}  // namespace sluice::emulator
