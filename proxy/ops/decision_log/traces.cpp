#include "proxy/ops/decision_log/traces.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace sluice::tracing {

admin::Answer Traces::begin(const std::vector<std::string>& words) {
  const std::variant<Request, std::string> parsed = Request::parse(words);
  if (const auto* const problem = std::get_if<std::string>(&parsed)) return admin::Answer::failure(*problem);
  if (running_) return admin::Answer::failure("a trace runs already, and only one may run");
  if (in_use()) return admin::Answer::failure("a poll thread still uses the previous trace; try again");
  const Request& request = std::get<Request>(parsed);
  const auto shards = static_cast<std::uint32_t>(program_.shards.size());
  std::vector<std::shared_ptr<ShardTrace>> traces;
  for (std::uint32_t i = 0; i < shards; ++i)
    traces.push_back(
        std::make_shared<ShardTrace>(room, request.selection, control::DecisionLog::Numbers{i + 1, shards}));
  newest_ = std::move(traces);
  running_ = true;
  for (std::size_t i = 0; i < newest_.size(); ++i) program_.shards[i]->offer(&newest_[i]->trace);
  program_.wake();
  const std::string ue = request.selection.ue.to_string();
  spdlog::info("trace of {} begins", ue);
  admin::Answer answer = admin::Answer::success({{"trace", ue}});
  answer.stream = std::make_shared<TraceStream>(
      TraceStream::Parts{program_.name, program_.now, program_.wall, [this] { end(); }, [this] { return !in_use(); }},
      request, newest_);
  return answer;
}

void Traces::end() {
  for (TraceSlot* const slot : program_.shards) slot->offer(nullptr);
  program_.wake();
  running_ = false;
  spdlog::info("trace of {} ends", newest_.front()->trace.selection().ue.to_string());
}

void Traces::free_unused() {
  if (!running_ && !in_use()) newest_.clear();
}

bool Traces::in_use() const {
  for (std::size_t i = 0; i < newest_.size(); ++i) {
    if (program_.shards[i]->uses(newest_[i]->trace)) return true;
  }
  return false;
}

}  // namespace sluice::tracing
