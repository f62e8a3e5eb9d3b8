// Starts and ends captures on the control thread, for the command `capture` of the admin socket and for the frame
// recorder. Each change offers a new set of taps to every shard. Invariant: a set is freed only after the shard has
// taken a newer one, so poll threads need no lock.
#include "proxy/ops/capture/captures.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "proxy/ops/capture/request.hpp"

namespace sluice::capture {
namespace {

/// Maximum number of sets of taps (rings for frames) that may exist for one shard when a capture starts. A stalled
/// shard keeps using an old set, so that the rings of this and later sets stay allocated.
constexpr std::size_t max_sets = 4 * max_captures;

}  // namespace

admin::Answer Captures::begin(const std::vector<std::string>& words) {
  std::variant<Request, std::string> parsed = Request::parse(words);
  if (const auto* const problem = std::get_if<std::string>(&parsed)) return admin::Answer::failure(*problem);
  if (running_.size() >= max_captures)
    return admin::Answer::failure(std::to_string(max_captures) + " captures run already, which is the maximum");
  free_unused();
  if (std::any_of(sets_.begin(), sets_.end(), [](const auto& sets) { return sets.size() > max_sets; }))
    return admin::Answer::failure("a poll thread still uses an earlier capture; try again");
  const Request& request = std::get<Request>(parsed);
  Taps taps;
  for (std::size_t i = 0; i < program_.shards.size(); ++i)
    taps.push_back(std::make_shared<FrameTap>(request.filter, room));
  const std::uint64_t id = ++last_id_;
  running_.push_back({id, taps});
  notify_shards();
  const std::string shown = request.filter.snap_length
                                ? std::to_string(*request.filter.snap_length) + " bytes of each frame"
                                : "headers only";
  spdlog::info("capture {} begins: {}", id, shown);
  admin::Answer answer = admin::Answer::success({{"capture", id}, {"shows", shown}});
  answer.stream = std::make_shared<CaptureStream>(
      CaptureStream::Parts{program_.name, program_.devices, program_.clock, [this, id] { end(id); },
                           [this] {
                             free_unused();
                             return shards_have(generation_);
                           }},
      std::move(taps), request.duration);
  return answer;
}

void Captures::record(std::vector<std::shared_ptr<FrameSink>> recorders) {
  recorders_ = std::move(recorders);
  notify_shards();
}

void Captures::end(std::uint64_t id) {
  std::erase_if(running_, [id](const Running& each) { return each.id == id; });
  notify_shards();
  spdlog::info("capture {} ends", id);
}

void Captures::notify_shards() {
  ++generation_;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    std::vector<std::shared_ptr<FrameSink>> taps;
    for (const Running& each : running_) taps.push_back(each.taps[i]);
    if (!recorders_.empty()) taps.push_back(recorders_[i]);
    sets_[i].push_back(std::make_unique<ShardTaps>(generation_, std::move(taps)));
    program_.shards[i]->offer(*sets_[i].back());
  }
  program_.wake();
  free_unused();
}

void Captures::free_unused() {
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const std::uint64_t taken = program_.shards[i]->taken();
    std::erase_if(sets_[i], [taken](const auto& set) { return set->generation() < taken; });
  }
}

bool Captures::shards_have(std::uint64_t generation) const {
  return std::all_of(program_.shards.begin(), program_.shards.end(),
                     [generation](const TapSlot* slot) { return slot->taken() >= generation; });
}

}  // namespace sluice::capture
