#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/admin/command.hpp"

namespace sluice::admin {

/// Command of a running proxy. The proxy's command table, and sluicectl's help, manual page and completion, are made
/// from these.
struct Verb {
  std::string_view name;
  std::string_view arguments;  ///< arguments in the form of help texts; words in lower case are literal
  std::string_view help;
  std::size_t max_arguments = 0;
};

inline constexpr std::array proxy_verbs{
    Verb{"status", "", "what runs, since when, and how much", 0},
    Verb{"counters", "[NAME]", "every counter by name, one, or those whose names begin so", 1},
    Verb{"explain", "WORD", "what a counter, metric, reason, mode, key or command means", 1},
    Verb{"bearers", "[LIMIT]", "UEs with their control state (50)", 1},
    Verb{"flows", "[LIMIT]", "TCP connections with both their legs (50)", 1},
    Verb{"exposure", "", "bytes acknowledged to one host and not yet by the other: how often how many, by samples", 0},
    Verb{"release", "UE|all", "hands a UE's connections, or all, back to plain forwarding", 1},
    Verb{"split-again", "UE|all", "splits connections again that were handed back, each as soon as it is quiet", 1},
    Verb{"drain", "[off|status]", "hands all back and splits no more, so that a stop breaks nothing; off: splits again",
         1},
    Verb{"ports", "", "the two ports with their drivers' statistics", 0},
    Verb{"shards", "", "the poll threads, one by one: load and counters", 0},
    Verb{"capture",
         "[--ue ADDRESS] [--port N] [--reason NAME] [--leg radio|core] [--filter EXPRESSION] [--seconds N] "
         "[--snaplen BYTES] [--recover FILE] [-w FILE]",
         "frames of both legs as pcapng, with what became of each: headers only unless told how much; - or no file: "
         "standard output; --recover: the last frames of a program that ended without a word",
         14},
    Verb{"trace", "UE[:PORT] [--seconds N] [--lines N] [-w FILE]",
         "what the laws of a UE decide, or those of the UE and of its connections from one port: a line of JSON for "
         "each call of a law, with what it was told and what it answered",
         5},
    Verb{"config", "", "the configuration in force, as YAML, without secrets", 0},
    Verb{"mode", "[MODE [split|regulate|auto]]", "the mode of connections that no policy matches; sets it", 2},
    Verb{"modes", "", "every mode with what it does, and why the configuration does not allow the others", 0},
    Verb{
        "reload", "[--confirm-within TIME]",
        "reads the configuration again, shows what differs and puts it in force; taken back when not confirmed in time",
        2},
    Verb{"confirm", "", "the last reload stays", 0},
    Verb{"revert", "", "takes a reload back at once that is not confirmed yet", 0},
    Verb{"groups", "", "the control group beside the others", 0},
    Verb{"version", "", "the program's release", 0},
    Verb{"stop", "",
         "ends the program; connections go back to their hosts first, for stop.drain or twice that; again: at once", 0},
};

/// Name of a command and the function that executes it.
struct Action {
  std::string_view name;
  std::function<void(const std::vector<std::string>& arguments, Reply reply)> run;
};

/// Returns the proxy's commands in the order of proxy_verbs. Throws std::logic_error if a command has no function, or a
/// function no command.
[[nodiscard]] std::vector<Command> proxy_commands(std::vector<Action> actions);

}  // namespace sluice::admin
