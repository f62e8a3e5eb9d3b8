#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emulator/report/csv.hpp"
#include "emulator/report/result.hpp"

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

/// One row per point: means over its seeds, each with half of its 95 % confidence interval.
[[nodiscard]] CsvTable summary_table(const std::vector<RunResult>& results);

/// Reads both tables back. Throws std::runtime_error when a column is missing or a cell is not the number it should be.
/// Columns it does not know become swept keys when they stand between `mode` and `seed`, a paper's values, figures or
/// counters otherwise.
[[nodiscard]] std::vector<RunResult> results_from(const CsvTable& results, const CsvTable& series);

/// Writes DIR/results.csv and DIR/series.csv, summary.csv where there are several seeds, and ues.csv,
/// flows.csv, packets.csv and queues.csv where the results hold such,
/// creating the directory. Throws std::runtime_error naming the file.
void write_results(const std::filesystem::path& directory, const std::vector<RunResult>& results);
/// Reads them. Throws std::runtime_error naming the file.
[[nodiscard]] std::vector<RunResult> read_results(const std::filesystem::path& directory);

/// Writes one file, creating its directory. Throws std::runtime_error naming it.
void write_file(const std::filesystem::path& path, const std::string& text);
/// Reads one file of at most `limit` bytes. Throws std::runtime_error naming it.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t{256} << 20);

}  // namespace sluice::emulator
