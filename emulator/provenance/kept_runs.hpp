#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "emulator/provenance/machine.hpp"
#include "emulator/report/result.hpp"
#include "emulator/scenario/plan.hpp"

namespace sluice::emulator {

/// Finished runs in a folder, one file each. The file name is a digest of all inputs, so a run of another program,
/// scenario or trace has another name.
/// Damaged files are ignored and their runs repeated. Thread-safe.
class KeptRuns {
 public:
  /// Opens the folder of finished runs. `identity` is a text that identifies the program and its inputs; `scenario` is
  /// the name of the plan.
  KeptRuns(std::filesystem::path folder, std::string identity, std::string scenario);

  /// Returns the file name of a run.
  [[nodiscard]] std::string name_of(const RunPlan& run) const;
  /// Returns the stored result of a run, or nothing if the file is absent or damaged.
  [[nodiscard]] std::optional<RunResult> find(const RunPlan& run);
  /// Writes the result of a run, completely or not at all. Throws std::runtime_error naming the file.
  void keep(const RunPlan& run, const RunResult& result);

  /// Returns the machines that computed the runs which find() returned or keep() stored.
  [[nodiscard]] std::set<Machine> machines() const;
  /// Returns the names of the damaged files that were ignored, with the reason.
  [[nodiscard]] std::set<std::string> refused() const;

 private:
  std::filesystem::path folder_;
  std::string identity_;
  std::string scenario_;
  mutable std::mutex mutex_;
  std::set<Machine> machines_;
  std::set<std::string> refused_;
};

}  // namespace sluice::emulator
