#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "emulator/report/csv.hpp"
#include "emulator/report/result.hpp"
#include "emulator/report/result_group.hpp"

namespace sluice::emulator {

/// Returns the table of results.csv, one row per run: keys, then measured values. The columns of sweeps come directly
/// after the column of the mode.
[[nodiscard]] CsvTable results_table(const std::vector<RunResult>& results);
/// Returns the table of series.csv, one row per run and interval.
[[nodiscard]] CsvTable series_table(const std::vector<RunResult>& results);

/// Returns the table of ues.csv, one row per run, UE and interval.
[[nodiscard]] CsvTable ues_table(const std::vector<RunResult>& results);
/// Returns the table of flows.csv, one row per run and connection of built-in hosts.
[[nodiscard]] CsvTable flows_table(const std::vector<RunResult>& results);
/// Returns the table of packets.csv, one row per run and packet that left a radio queue or was dropped there.
[[nodiscard]] CsvTable packets_table(const std::vector<RunResult>& results);
/// Returns the table of queues.csv, one row per run and flow in a radio queue.
[[nodiscard]] CsvTable queues_table(const std::vector<RunResult>& results);
/// Returns the table of windows.csv, one row per run, connection of a server and interval.
[[nodiscard]] CsvTable windows_table(const std::vector<RunResult>& results);
/// Returns the table of drops.csv, one row per run and segment dropped by a radio queue.
[[nodiscard]] CsvTable drops_table(const std::vector<RunResult>& results);

/// A column of the table that summary_table() returns, other than a key column (mode or swept column).
struct SummaryColumn {
  const char* name;
  const char* text;
  double (*value)(const ResultGroup& group);
};
[[nodiscard]] const std::vector<SummaryColumn>& summary_table_columns();
/// Returns the summary with one row for each mode and combination of swept values. It has means over the seeds, each
/// with half of the width of its 95 % confidence interval.
[[nodiscard]] CsvTable summary_table(const std::vector<RunResult>& results);

/// Builds runs from the tables of results.csv and series.csv. Throws std::runtime_error if a column is missing or a
/// cell is not a number. Unknown columns between those of mode and seed become swept keys; unknown columns behind the
/// measured ones become a paper's values, figures or counters.
[[nodiscard]] std::vector<RunResult> results_from(const CsvTable& results, const CsvTable& series);

/// A result file, and the description of its rows.
struct ResultFile {
  const char* name;
  const char* row;
  CsvTable (*table)(const std::vector<RunResult>& results);
  bool always;  ///< true if the file is written even if it has no rows
};
inline constexpr std::array result_files = std::to_array<ResultFile>({
    {"results.csv", "one run, after its warm-up", results_table, true},
    {"series.csv", "one run and interval", series_table, true},
    {"summary.csv", "one point of the sweeps, as means over several seeds", summary_table, false},
    {"ues.csv", "one run, UE and interval (output.ues)", ues_table, false},
    {"flows.csv", "one run and connection of built-in hosts (output.flows)", flows_table, false},
    {"packets.csv", "one run and packet that left a radio queue (output.packets)", packets_table, false},
    {"queues.csv", "one run and flow through a radio queue (output.queues)", queues_table, false},
    {"windows.csv", "one run, connection of a built-in server and interval (output.windows)", windows_table, false},
    {"drops.csv", "one run and TCP segment that a radio queue dropped (output.drops)", drops_table, false},
});

/// Writes the result files that have rows, and those that are always written, with the rows of every seed. Creates the
/// directory. Returns the names of the files. Throws std::runtime_error naming the file.
[[nodiscard]] std::vector<std::string> write_results(const std::filesystem::path& directory,
                                                     const std::vector<RunResult>& results);
/// Returns the line for the terminal that lists the `files` written to `directory`.
[[nodiscard]] std::string written_line(const std::string& directory, const std::vector<std::string>& files);
/// Returns the description of every column of every file as Markdown, from the tables that write them.
[[nodiscard]] std::string results_reference();
/// Reads results.csv and series.csv of a directory. Throws std::runtime_error naming the file.
[[nodiscard]] std::vector<RunResult> read_results(const std::filesystem::path& directory);

/// Writes one file and creates its directory. Throws std::runtime_error naming the file.
void write_file(const std::filesystem::path& path, const std::string& text);
/// Reads one file of at most `limit` bytes. Throws std::runtime_error naming the file.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{256} << 20);

}  // namespace sluice::emulator
