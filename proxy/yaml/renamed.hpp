#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice::config {

/// Old and new name of a key, command or counter that was renamed.
struct Renamed {
  std::string_view before;
  std::string_view now;
};

/// Table of renamed words. Error messages about an unknown word use it to suggest the new name. A word stays in the
/// table for one release.
inline constexpr std::array<Renamed, 23> renamed_words{{
    {"let_flows_go_at", "release_flows_at"},      {"take-up", "split-again"},
    {"young_reference", "short_flow_reference"},  {"forward_handover", "forward_handback"},
    {"forward_followed", "forward_tracked"},      {"flows_taken_up", "flows_split_again"},
    {"flows_let_go", "flows_released"},           {"let_go_idle", "released_idle"},
    {"let_go_command", "released_command"},       {"let_go_drain", "released_drain"},
    {"let_go_memory", "released_memory"},         {"let_go_switch", "released_switch"},
    {"let_go_surprise", "released_unsplittable"}, {"icmp_believed", "icmp_accepted"},
    {"icmp_not_believed", "icmp_rejected"},       {"out_of_order_forgotten", "out_of_order_dropped"},
    {"released_forgotten", "released_untracked"}, {"sluice_shards_standing_still", "sluice_shards_stalled"},
    {"shards_standing_still", "shards_stalled"},  {"kept_by", "blocked_by"},
    {"clumps", "ack_aggregation_share"},          {"longest_hold", "max_ack_delay"},
    {"forget_after", "restart_after_idle"},
}};

/// Returns the new name of the word `before`, or an empty text if the word was not renamed.
[[nodiscard]] constexpr std::string_view renamed_to(std::string_view before) {
  const auto* const at = std::find_if(renamed_words.begin(), renamed_words.end(),
                                      [&](const Renamed& word) { return word.before == before; });
  return at != renamed_words.end() ? at->now : std::string_view();
}

}  // namespace sluice::config
