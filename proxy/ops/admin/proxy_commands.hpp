#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/admin/command.hpp"

namespace sluice::admin {

/// Description of a command of a running proxy. The proxy's commands and sluicectl's help, manual page and completion
/// are made from these descriptions.
struct Verb {
  std::string_view name;
  /// arguments as help texts show them; words in lower case are literal, words in upper case are placeholders
  std::string_view arguments;
  std::string_view help;
  std::size_t max_arguments = 0;
};

inline constexpr std::array proxy_verbs{
    Verb{"status", "", "version, mode, uptime and load", 0},
    Verb{"counters", "[NAME]", "all counters, one counter, or all whose names begin with NAME", 1},
    Verb{"explain", "WORD", "meaning of a column, phase, reason, counter, metric, mode, key or command", 1},
    Verb{"bearers", "[LIMIT]", "UEs with their control state (default LIMIT 50)", 1},
    Verb{"flows", "[--passing] [LIMIT]",
         "TCP connections with both legs (default LIMIT 50); --passing: largest flows that pass uncontrolled, with the "
         "reason",
         2},
    Verb{"traffic", "", "bytes by handling: limited by a rate controller, split, or passed with the reason", 0},
    Verb{"exposure", "", "histogram of bytes acknowledged to one host and not yet by the other", 0},
    Verb{"release", "UE|all", "hands a UE's connections, or all, back to plain forwarding", 1},
    Verb{"split-again", "UE|all", "splits handed-back connections again, each as soon as it is idle", 1},
    Verb{"drain", "[off|status]",
         "hands all connections back and splits no new ones, so that a stop breaks none; off: splits again", 1},
    Verb{"ports", "", "state and driver statistics of the two ports", 0},
    Verb{"shards", "", "load and counters of each poll thread", 0},
    Verb{"capture",
         "[--ue ADDRESS] [--port N] [--reason NAME] [--leg radio|core] [--filter EXPRESSION] [--seconds N] "
         "[--snaplen BYTES] [--recover FILE] [-w FILE]",
         "captures frames of both legs as pcapng with action and reason of each; headers only without --snaplen; - or "
         "no file: standard output; --recover: last frames before a crash",
         14},
    Verb{"trace", "UE[:PORT] [--seconds N] [--lines N] [-w FILE]",
         "records decisions of the controllers of a UE, or of one of its connections too: one JSON line for each call "
         "of a controller, with inputs and outputs",
         5},
    Verb{"config", "", "active configuration as YAML, without secrets", 0},
    Verb{"mode", "[MODE [split|regulate|auto]]", "shows or sets the mode of connections that no policy matches", 2},
    Verb{"modes", "", "all modes with their meaning, and why the configuration does not allow some", 0},
    Verb{"reload", "[--confirm-within TIME]",
         "reads the configuration again, shows changes and activates them; undone if not confirmed in time", 2},
    Verb{"confirm", "", "keeps the last reload", 0},
    Verb{"revert", "", "undoes a reload that is not confirmed yet", 0},
    Verb{"log-level", "[trace|debug|info|warning|error|critical|off]",
         "lowest level of lines that are logged; sets it until the next reload", 1},
    Verb{"groups", "", "compares the control group with the other UEs", 0},
    Verb{"version", "", "the program's release", 0},
    Verb{
        "stop", "",
        "ends the program; connections are handed back first, for stop.drain or twice that; a second stop ends at once",
        0},
};

/// Name of a command and the function that executes it.
struct Action {
  std::string_view name;
  std::function<void(const std::vector<std::string>& arguments, Reply reply)> run;
};

/// Returns the proxy's commands in the order of proxy_verbs. Throws std::logic_error if a command has no function, or a
/// function has no command.
[[nodiscard]] std::vector<Command> proxy_commands(std::vector<Action> actions);

}  // namespace sluice::admin
