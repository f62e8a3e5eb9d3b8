// Store of finished runs in a folder, used by `nodeb run --keep`. Files are written atomically by rename(). Invariant:
// a file is used only if its digest, its name and its run's key match; all others are run again.

#include "emulator/provenance/kept_runs.hpp"

#include <unistd.h>

#include <stdexcept>
#include <string_view>
#include <utility>

#include "emulator/provenance/archive.hpp"
#include "emulator/provenance/result_archive.hpp"
#include "emulator/provenance/sha256.hpp"
#include "emulator/report/results_csv.hpp"

namespace sluice::emulator {
namespace {

constexpr std::string_view magic = "nodeb run 1\n";
constexpr std::size_t digest_size = 64;
constexpr std::size_t largest = std::size_t{1} << 30;

RunKey key_of(const RunPlan& run, const std::string& scenario) {
  return {scenario, "virtual", run.mode_name, run.seed, run.swept};
}

}  // namespace

KeptRuns::KeptRuns(std::filesystem::path folder, std::string identity, std::string scenario)
    : folder_(std::move(folder)), identity_(std::move(identity)), scenario_(std::move(scenario)) {}

std::string KeptRuns::name_of(const RunPlan& run) const {
  return sha256(identity_ + "\npoint " + std::to_string(run.point) + ", seed " + std::to_string(run.seed)) + ".run";
}

std::optional<RunResult> KeptRuns::find(const RunPlan& run) {
  const std::filesystem::path path = folder_ / name_of(run);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  try {
    const std::string file = read_file(path, largest);
    const std::string_view bytes = file;
    if (bytes.size() < magic.size() + digest_size || !bytes.starts_with(magic)) {
      throw std::runtime_error("is not a run");
    }
    const std::string_view body = bytes.substr(magic.size(), bytes.size() - magic.size() - digest_size);
    if (sha256(body) != bytes.substr(bytes.size() - digest_size)) throw std::runtime_error("is incomplete");
    ArchiveReader reader(body);
    std::string name;
    Machine machine;
    std::string result_bytes;
    reader(name, machine.kernel, machine.processor, machine.library, result_bytes);
    RunResult result = result_of(result_bytes);
    if (name != name_of(run) || result.key != key_of(run, scenario_)) throw std::runtime_error("is another run");
    const std::lock_guard lock(mutex_);
    machines_.insert(std::move(machine));
    return result;
  } catch (const std::runtime_error& broken) {
    const std::lock_guard lock(mutex_);
    refused_.insert(path.string() + ": " + broken.what());
    return std::nullopt;
  }
}

void KeptRuns::keep(const RunPlan& run, const RunResult& result) {
  const Machine machine = this_machine();
  ArchiveWriter writer;
  writer(name_of(run), machine.kernel, machine.processor, machine.library, archive(result));
  const std::string body = writer.take();
  const std::filesystem::path path = folder_ / name_of(run);
  const std::filesystem::path unfinished = path.string() + '.' + std::to_string(getpid());
  write_file(unfinished, std::string(magic) + body + sha256(body));
  std::filesystem::rename(unfinished, path);
  const std::lock_guard lock(mutex_);
  machines_.insert(machine);
}

std::set<Machine> KeptRuns::machines() const {
  const std::lock_guard lock(mutex_);
  return machines_;
}

std::set<std::string> KeptRuns::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace sluice::emulator
