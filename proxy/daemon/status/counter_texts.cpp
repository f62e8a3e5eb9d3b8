// Table of the counters outside the shards. StatusSource takes the texts from it, and the generated reference of words
// lists it. Invariant: a counter without a row cannot be shown.
#include "proxy/daemon/status/counter_texts.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "control/feedback/failure.hpp"
#include "proxy/daemon/status/traffic_view.hpp"
#include "proxy/engine/base/counters.hpp"

namespace sluice::proxy {
namespace {

constexpr std::array<std::string_view, 2> counter_ports{"radio", "core"};

struct CounterRow {
  std::string_view pattern;  ///< name of the counter, in which `*` stands for the name of a port
  std::string_view text;
  bool is_alarming = false;  ///< true if a warning is logged when the counter increases
};

constexpr std::array counter_rows{
    CounterRow{"shards.stalls", "times that a poll thread stalled for a second or more"},
    CounterRow{"ports.*.received", "frames received"},
    CounterRow{"ports.*.received_bytes", "bytes received"},
    CounterRow{"ports.*.oversized", "received frames longer than the port's MTU", true},
    CounterRow{"ports.*.transmitted", "frames transmitted"},
    CounterRow{"ports.*.transmitted_bytes", "bytes transmitted"},
    CounterRow{"ports.*.transmit_dropped", "frames that the device did not accept", true},
    CounterRow{"ports.*.link_changes", "times that the link went down or came up"},
    CounterRow{"ports.*.copy_failed", "frames dropped: no packet buffer left for the copy the driver needs", true},
    CounterRow{"steering.handed_over", "frames passed from the shard that received them to the shard of their UE"},
    CounterRow{"steering.dropped", "frames dropped because a shard fell behind", true},
    CounterRow{"fail_open.repairs", "times that an interface was added to the bridge again"},
    CounterRow{"feedback.datagrams_received", "datagrams received"},
    CounterRow{"feedback.datagrams_sent", "datagrams sent"},
    CounterRow{"feedback.receive_errors", "errors of the socket while receiving", true},
    CounterRow{"feedback.send_errors", "datagrams that could not be sent (the Node-B is down?)", true},
    CounterRow{"feedback.not_answered", "datagrams from addresses that learn_from of their key does not contain", true},
    CounterRow{"feedback.no_room_to_learn", "datagrams from more addresses than feedback.most_learned", true},
    CounterRow{"feedback.reports_implausible",
               "bearer records refused: above feedback.largest_rate or feedback.largest_queue", true},
    CounterRow{"feedback.reports_lost", "bearer records dropped because a shard fell behind", true},
    CounterRow{"feedback.statuses_lost", "statuses postponed because the control thread fell behind", true},
    CounterRow{"admin.clients_displaced", "silent clients of the admin socket that were closed for another client"},
    CounterRow{"log.lines_lost", "log lines lost: not read in time, or not writable"},
    CounterRow{"files.lost", "mapped files that another program truncated, or whose file system failed"},
    CounterRow{"ipfix.records", "records of ended connections sent to the collector"},
    CounterRow{"ipfix.messages", "messages sent to the collector, templates included"},
    CounterRow{"ipfix.records_unsent", "records lost: the socket did not accept their message (collector down?)", true},
    CounterRow{"ipfix.records_dropped", "records lost: more connections ended than the control thread processes", true},
};

std::string full_name(std::string_view pattern, std::string_view port) {
  std::string name(pattern);
  const std::size_t star = name.find('*');
  return star == std::string::npos ? name : name.replace(star, 1, port);
}

}  // namespace

std::vector<CounterDescription> counter_descriptions() {
  std::vector<CounterDescription> all;
  for (std::size_t i = 0; i < counter_count; ++i) {
    const auto& [name, text] = counter_text(i);
    all.push_back({"proxy." + std::string(name), text});
  }
  for (const CounterRow& row : counter_rows) {
    if (row.pattern.find('*') == std::string_view::npos) {
      all.push_back({std::string(row.pattern), row.text});
    } else {
      for (const std::string_view port : counter_ports) all.push_back({full_name(row.pattern, port), row.text});
    }
  }
  std::vector<NamedCounter> traffic;
  add_traffic_counters({}, traffic);
  for (NamedCounter& counter : traffic) all.push_back({std::move(counter.name), counter.text});
  namespace feedback = control::feedback;
  all.push_back({"feedback.accepted", "datagrams accepted"});
  for (std::size_t i = 1; i < feedback::failure_count; ++i) {
    const auto failure = static_cast<feedback::Failure>(i);
    all.push_back({"feedback.refused_" + std::string(feedback::name_of(failure)), feedback::text_of(failure)});
  }
  return all;
}

NamedCounter counter_of(std::string_view pattern, std::uint64_t value, std::string_view port, std::string detail) {
  const auto* const row = std::find_if(counter_rows.begin(), counter_rows.end(),
                                       [pattern](const CounterRow& each) { return each.pattern == pattern; });
  if (row == counter_rows.end()) throw std::logic_error("no text for the counter " + std::string(pattern));
  return {full_name(pattern, port), row->text, value, row->is_alarming, std::move(detail)};
}

}  // namespace sluice::proxy
