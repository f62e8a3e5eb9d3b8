#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "emulator/report/csv.hpp"
#include "emulator/report/result.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// One row per run: the keys, then what was measured. The columns of sweeps stand behind `mode`.
[[nodiscard]] CsvTable results_table(const std::vector<RunResult>& results);
/// One row per run and interval.
[[nodiscard]] CsvTable series_table(const std::vector<RunResult>& results);

/// One row per run, UE and interval; per run and connection; per run and packet; per run and flow in a radio queue.
[[nodiscard]] CsvTable ues_table(const std::vector<RunResult>& results);
[[nodiscard]] CsvTable flows_table(const std::vector<RunResult>& results);
[[nodiscard]] CsvTable packets_table(const std::vector<RunResult>& results);
[[nodiscard]] CsvTable queues_table(const std::vector<RunResult>& results);
/// One row per run, connection of a server and interval; per run and dropped segment.
[[nodiscard]] CsvTable windows_table(const std::vector<RunResult>& results);
[[nodiscard]] CsvTable drops_table(const std::vector<RunResult>& results);

/// A column of summary_table() behind those that name the point.
struct SummaryColumn {
  const char* name;
  const char* text;
  double (*value)(const ResultGroup& group);
};
[[nodiscard]] const std::vector<SummaryColumn>& summary_table_columns();
/// One row per point: means over its seeds, each with half of its 95 % confidence interval.
[[nodiscard]] CsvTable summary_table(const std::vector<RunResult>& results);

/// Reads both tables back. Throws std::runtime_error when a column is missing or a cell is not the number it should be.
/// Columns it does not know become swept keys when they stand between `mode` and `seed`, a paper's values, figures or
/// counters otherwise.
[[nodiscard]] std::vector<RunResult> results_from(const CsvTable& results, const CsvTable& series);

/// A file of results, and what a row of it is.
struct ResultFile {
  const char* name;
  const char* row;
  CsvTable (*table)(const std::vector<RunResult>& results);
  bool always;  ///< written where it has no rows, too
};
inline constexpr std::array result_files = std::to_array<ResultFile>({
    {"results.csv", "a run, over the time after its warm-up", results_table, true},
    {"series.csv", "a run and interval", series_table, true},
    {"summary.csv", "a point of the sweeps, where there are several seeds: means over them", summary_table, false},
    {"ues.csv", "a run, UE and interval (output.ues)", ues_table, false},
    {"flows.csv", "a run and connection of built-in hosts (output.flows)", flows_table, false},
    {"packets.csv", "a run and packet that left a radio queue (output.packets)", packets_table, false},
    {"queues.csv", "a run and flow through a radio queue (output.queues)", queues_table, false},
    {"windows.csv", "a run, connection of a built-in server and interval (output.windows)", windows_table, false},
    {"drops.csv", "a run and TCP segment that a radio queue dropped (output.drops)", drops_table, false},
});

/// Writes those of result_files that there is something for, with the rows of every seed, creating the directory.
/// Returns their names. Throws std::runtime_error naming the file.
[[nodiscard]] std::vector<std::string> write_results(const std::filesystem::path& directory,
                                                     const std::vector<RunResult>& results);
/// The line that says what was written where.
[[nodiscard]] std::string written_line(const std::string& directory, const std::vector<std::string>& files);
/// What every column of every file says, as Markdown, from the tables that write them.
[[nodiscard]] std::string results_reference();
/// Reads them. Throws std::runtime_error naming the file.
[[nodiscard]] std::vector<RunResult> read_results(const std::filesystem::path& directory);

/// Writes one file, creating its directory. Throws std::runtime_error naming it.
void write_file(const std::filesystem::path& path, const std::string& text);
/// Reads one file of at most `limit` bytes. Throws std::runtime_error naming it.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{256} << 20);

}  // namespace sluice::emulator
