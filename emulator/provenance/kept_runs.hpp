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

/// Finished runs in a folder, one file each, named by all that its numbers depend on: a run of another program,
/// scenario or trace has another name. What is broken is not taken, and is run again. Callable from several threads at
/// once.
class KeptRuns {
 public:
  /// `identity`: of the program and its inputs. `scenario`: the name of the plan.
  KeptRuns(std::filesystem::path folder, std::string identity, std::string scenario);

  /// The name of the file of a run.
  [[nodiscard]] std::string name_of(const RunPlan& run) const;
  /// Nothing where it is not there, or not whole.
  [[nodiscard]] std::optional<RunResult> find(const RunPlan& run);
  /// Writes it, whole or not at all. Throws std::runtime_error naming the file.
  void keep(const RunPlan& run, const RunResult& result);

  /// Where the runs that were found or kept had been run.
  [[nodiscard]] std::set<Machine> machines() const;
  /// Files that were there and could not be taken, with the reason.
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
