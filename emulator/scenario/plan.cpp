// Expands a scenario file into its runs: every combination of swept values, modes and seeds. The commands of `nodeb`
// call load_plan(). Each run's values are put into the document tree, which is parsed again. Invariant: every point
// passes the same checks as a file that states its values directly.

#include "emulator/scenario/plan.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using config::Error;
using config::Node;
using config::Place;

/// Returns the child `key` of `map`. If the child is missing, adds it with `place` (line and column) as its place.
Node& member(Node& map, const std::string& key, Place place) {
  for (config::Entry& entry : map.entries) {
    if (entry.key == key) return entry.value;
  }
  map.kind = Node::Kind::map;
  map.entries.push_back({key, place, Node{}});
  map.entries.back().value.place = place;
  return map.entries.back().value;
}

/// Returns the place of a swept value in the file, for error messages. Falls back to the place of the sweep section.
Place place_of_value(const Node& root, std::size_t sweep, std::size_t value) {
  const config::Entry* section = root.find("sweep");
  if (section == nullptr) return {};
  if (sweep >= section->value.items.size()) return section->place;
  const config::Entry* values = section->value.items[sweep].find("values");
  if (values == nullptr || value >= values->value.items.size()) return section->place;
  return values->value.items[value].place;
}

/// One combination of swept values: for each sweep the index of its value.
using Point = std::vector<std::size_t>;

/// Returns every combination of swept values. A sweep with the key `with` adds no combinations, because it always uses
/// the same index as the sweep that the key names.
std::vector<Point> points_of(const std::vector<SweepSpec>& sweeps) {
  std::vector<Point> points = {{}};
  for (const SweepSpec& sweep : sweeps) {
    std::vector<Point> longer;
    const auto leader = std::find_if(sweeps.begin(), sweeps.end(), [&](const SweepSpec& other) {
      return !sweep.with.empty() && other.column == sweep.with;
    });
    for (const Point& point : points) {
      if (leader != sweeps.end()) {
        longer.push_back(point);
        longer.back().push_back(point[static_cast<std::size_t>(leader - sweeps.begin())]);
        continue;
      }
      for (std::size_t i = 0; i < sweep.values.size() && longer.size() <= max_runs; ++i) {
        longer.push_back(point);
        longer.back().push_back(i);
      }
    }
    points = std::move(longer);
  }
  return points;
}

/// Expands one scenario file into its runs.
class Planner {
 public:
  Planner(const Node& root, const std::string& file, unsigned seeds) : root_(root), file_(file), seeds_(seeds) {}

  config::Loaded<Plan> plan() {
    config::Loaded<Scenario> base = config::parse<Scenario>(root_, file_);
    loaded_.errors = std::move(base.errors);
    loaded_.warnings = std::move(base.warnings);
    if (!base.value) return std::move(loaded_);
    plan_.name = std::filesystem::path(file_).stem().string();
    plan_.file = file_;
    plan_.base = *base.value;
    const std::vector<Point> points = points_of(plan_.base.sweep);
    if (points.size() * plan_.base.modes.size() * seeds_ > max_runs) {
      fail(root_.find("sweep") != nullptr ? root_.find("sweep")->place : Place{}, "sweep",
           "at most " + std::to_string(max_runs) + " runs", std::to_string(points.size()) + " points or more");
      return std::move(loaded_);
    }
    for (const Point& point : points) add(point);
    if (loaded_.errors.empty()) put_paper_values(root_, file_, plan_, loaded_.errors);
    if (loaded_.errors.empty()) loaded_.value = std::move(plan_);
    return std::move(loaded_);
  }

 private:
  void fail(Place place, std::string what, std::string expected, std::string got) {
    add_error({file_, place, std::move(what), std::move(expected), std::move(got)});
  }
  void add_error(Error error) {
    if (std::find(loaded_.errors.begin(), loaded_.errors.end(), error) == loaded_.errors.end()) {
      loaded_.errors.push_back(std::move(error));
    }
  }

  void add(const Point& point) {
    Node tree = root_;
    RunPlan run;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const SweepSpec& sweep = plan_.base.sweep[i];
      const std::string& value = sweep.values[point[i]];
      const Place place = place_of_value(root_, i, point[i]);
      for (const std::string& key : sweep.keys) {
        const std::string problem = set_value(tree, key, value + sweep.unit, place);
        if (!problem.empty()) return fail(place, "sweep.keys \"" + key + "\"", "a path in this file", problem);
      }
      const std::string& label = sweep.labels.empty() ? value : sweep.labels[point[i]];
      if (sweep.column == mode_column) {
        run.mode_name = label;
      } else if (!sweep.column.empty()) {
        run.swept.emplace_back(sweep.column, label);
      }
    }
    config::Loaded<Scenario> scenario = config::parse<Scenario>(tree, file_);
    for (Error& error : scenario.errors) add_error(std::move(error));
    for (Error& warning : scenario.warnings) {
      if (std::find(loaded_.warnings.begin(), loaded_.warnings.end(), warning) == loaded_.warnings.end()) {
        loaded_.warnings.push_back(std::move(warning));
      }
    }
    if (!scenario.value) return;
    run.scenario = std::move(*scenario.value);
    const bool named = !run.mode_name.empty();
    for (const RunMode mode : run.scenario.modes) {
      if (!named) run.mode_name = to_string(mode);
      for (unsigned seed = 0; seed < seeds_; ++seed) {
        run.mode = mode;
        run.point = points_;
        run.seed = run.scenario.seed + seed;
        plan_.runs.push_back(run);
      }
      ++points_;
    }
  }

  const Node& root_;
  const std::string& file_;
  unsigned seeds_;
  std::size_t points_ = 0;
  Plan plan_;
  config::Loaded<Plan> loaded_;
};

}  // namespace

std::string set_value(Node& root, std::string_view path, const std::string& text, Place place) {
  if (path.empty()) {
    if (root.kind == Node::Kind::map || root.kind == Node::Kind::list) return "a map or a list is given there";
    root.kind = Node::Kind::scalar;
    root.place = place;
    root.text = text;
    return {};
  }
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string part(path.substr(0, dot));
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  if (root.kind == Node::Kind::list) {
    std::size_t first = 0;
    std::size_t last = root.items.size();
    if (part != "*") {
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), first);
      if (error != std::errc() || end != part.data() + part.size()) return "\"" + part + "\" instead of a number or *";
      if (first >= last) return "the list there has " + std::to_string(last) + " elements";
      last = first + 1;
    }
    for (std::size_t i = first; i < last; ++i) {
      if (std::string problem = set_value(root.items[i], rest, text, place); !problem.empty()) return problem;
    }
    return {};
  }
  if (root.kind == Node::Kind::scalar) return "a value is given above \"" + part + "\"";
  if (part.empty()) return "an empty key";
  return set_value(member(root, part, place), rest, text, place);
}

config::Loaded<Plan> parse_plan(std::string_view text, const std::string& file, unsigned seeds) {
  config::Loaded<Plan> loaded;
  const Node root = config::parse_document(text, file, loaded.errors);
  if (!loaded.errors.empty()) return loaded;
  return Planner(root, file, seeds).plan();
}

config::Loaded<Plan> load_plan(const std::string& file, unsigned seeds) {
  config::Loaded<Plan> loaded;
  const std::string text = config::read_text(file, config::DocumentLimits{}.bytes, loaded.errors);
  if (!loaded.errors.empty()) return loaded;
  return parse_plan(text, file, seeds);
}

}  // namespace sluice::emulator
