#pragma once

#include <vector>

#include "emulator/report/columns.hpp"

// The columns of the tables that have a row for each of what a run holds, behind those that name the run.

namespace sluice::emulator {

[[nodiscard]] const std::vector<Column<SeriesPoint>>& point_columns();
[[nodiscard]] const std::vector<Column<UePoint>>& ue_columns();
[[nodiscard]] const std::vector<Column<FlowRow>>& flow_columns();
[[nodiscard]] const std::vector<Column<PacketRow>>& packet_columns();
[[nodiscard]] const std::vector<Column<QueueRow>>& queue_columns();
[[nodiscard]] const std::vector<Column<WindowRow>>& window_columns();
[[nodiscard]] const std::vector<Column<DropRow>>& drop_columns();

}  // namespace sluice::emulator
