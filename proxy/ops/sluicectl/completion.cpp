// Generates the completions of sluice, sluicectl and nodeb for bash, zsh and fish from their command-line declarations
// (`--completion`). Invariant: options and commands come from CLI11 and the verb tables only, so that a completion
// cannot differ from what the program accepts.
#include "proxy/ops/sluicectl/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

namespace sluice::manual {
namespace {

/// Placeholders in a completion script, `@ue` and `@counter`. When the user completes a word, the script replaces them
/// by the UEs and counters that it requests from the running program.
constexpr std::string_view ues = "@ue";
constexpr std::string_view counters = "@counter";

/// Options and words that can follow a given sequence of command words.
struct Row {
  std::string commands;              ///< command words that precede, such as "nodeb trace"
  std::vector<std::string> options;  ///< options that may follow
  std::vector<std::string> words;    ///< words that can follow, apart from options
};
using Table = std::vector<Row>;

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : " ") + word;
  return list;
}

bool is_placeholder(const std::string& word) {
  return std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

/// Returns the literal words of a usage text: "drain", "off" and "status" for "drain [off|status]". Words in upper case
/// are omitted, except UE and NAME, which become placeholders, because the running program knows their values.
std::vector<std::string> typed_words(const std::string& usage) {
  std::vector<std::string> words(1);
  for (const char c : usage) {
    if (c == ' ' || c == '|' || c == '[' || c == ']') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  for (std::string& word : words) {
    if (word == "UE") word = ues;
    if (word == "NAME") word = counters;
  }
  std::erase_if(words, [](const std::string& word) { return word.empty() || is_placeholder(word); });
  return words;
}

void add_program(Table& table, const CLI::App& program, const std::string& commands) {
  Row row{commands, {}, {}};
  for (const CLI::Option* option : program.get_options()) {
    for (const std::string& name : option->get_lnames()) row.options.push_back("--" + name);
  }
  for (const CLI::App* below : program.get_subcommands([](const CLI::App*) { return true; })) {
    row.words.push_back(below->get_name());
    add_program(table, *below, commands + " " + below->get_name());
  }
  table.push_back(std::move(row));
}

void add_verbs(Table& table, const std::vector<Verb>& verbs, const std::string& program) {
  const std::size_t main = table.size() - 1;  // add_program() adds the program behind its subcommands
  for (const Verb& verb : verbs) {
    const std::vector<std::string> typed = typed_words(verb.usage);
    table[main].words.push_back(typed.front());
    Row row{program + " " + typed.front(), {}, {}};
    for (std::size_t i = 1; i < typed.size(); ++i)
      (typed[i].starts_with("-") ? row.options : row.words).push_back(typed[i]);
    table.push_back(std::move(row));
  }
}

/// Replaces every "@@" in a script by the name of the program.
std::string named(std::string script, const std::string& name) {
  for (std::size_t at = 0; (at = script.find("@@", at)) != std::string::npos; at += name.size())
    script.replace(at, 2, name);
  return script;
}

/// Shell function for bash and zsh. It requests the values of a placeholder from the running program and prints them,
/// one per line.
constexpr const char* ask_program = R"sh(_@@_ask() {
  case $1 in
    @ue) @@ "${@:2}" --timeout 1 bearers 1000 2>/dev/null | awk 'NR > 1 && !seen[$1]++ { print $1 }' ;;
    @counter) @@ "${@:2}" --timeout 1 counters 2>/dev/null | awk '{ print $1 }' ;;
  esac
}
)sh";

std::string bash(const Table& table, const std::string& name) {
  std::string options;
  std::string words;
  for (const Row& row : table) {
    options += "    [\"" + row.commands + "\"]=\"" + joined(row.options) + "\"\n";
    if (!row.words.empty()) words += "    [\"" + row.commands + "\"]=\"" + joined(row.words) + "\"\n";
  }
  return named(std::string("# Completion of @@ for bash, written by @@ --completion.\n") + ask_program +
                   "_@@() {\n  local commands=@@ next word list before prefix current=${COMP_WORDS[COMP_CWORD]}\n"
                   "  local -a socket=()\n  local -A options=(\n" +
                   options + "  ) words=(\n" + words + R"sh(  )
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="$commands $word"
    [[ -z ${options["$next"]+known} ]] || commands=$next
    [[ ${before-} != --socket ]] || socket=(--socket "$word")
    before=$word
  done
  # Readline splits words at colons, which IPv6 addresses contain.
  if [[ -n ${COMP_LINE-} ]]; then
    current=${COMP_LINE:0:COMP_POINT}
    current=${current##* }
  fi
  case $current in
    -*) list=${options["$commands"]} ;;
    *) list=${words["$commands"]-} ;;
  esac
  [[ ${before-} != --ue ]] || list=@ue
  for word in @ue @counter; do
    [[ " $list " != *" $word "* ]] || list="${list/"$word"/} $(_@@_ask "$word" "${socket[@]}")"
  done
  mapfile -t COMPREPLY < <(compgen -W "$list" -- "$current")
  prefix=${current%"${current##*:}"}
  [[ -z ${COMP_LINE-} || -z $prefix ]] || COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
}
complete -o bashdefault -o default -F _@@ @@
)sh",
               name);
}

std::string zsh(const Table& table, const std::string& name) {
  std::string options;
  std::string words;
  for (const Row& row : table) {
    options += "    '" + row.commands + "' '" + joined(row.options) + "'\n";
    words += "    '" + row.commands + "' '" + joined(row.words) + "'\n";
  }
  return named(std::string("#compdef @@\n# Completion of @@ for zsh, written by @@ --completion=zsh.\n") + ask_program +
                   "_@@() {\n  local commands=@@ next word before\n  local -a list socket\n"
                   "  local -A option_table word_table\n  option_table=(\n" +
                   options + "  )\n  word_table=(\n" + words + R"sh(  )
  for word in "${(@)words[2,CURRENT-1]}"; do
    next="$commands $word"
    (( ! ${+option_table[$next]} )) || commands=$next
    [[ $before != --socket ]] || socket=(--socket "$word")
    before=$word
  done
  if [[ $PREFIX == -* ]]; then list=(${=option_table[$commands]}); else list=(${=word_table[$commands]}); fi
  [[ $before != --ue ]] || list=(@ue)
  for word in @ue @counter; do
    if (( ${list[(Ie)$word]} )); then
      list=(${list:#$word} ${(f)"$(_@@_ask $word $socket)"})
    fi
  done
  if (( $#list )); then compadd -- $list; else _files; fi
}
_@@ "$@"
)sh",
               name);
}

std::string fish(const Table& table, const std::string& name) {
  std::string options;
  std::string words;
  for (const Row& row : table) {
    options += "            case '" + row.commands + "'\n                echo " + joined(row.options) + "\n";
    words += "            case '" + row.commands + "'\n                echo " + joined(row.words) + "\n";
  }
  std::string known;
  for (const Row& row : table) known += " '" + row.commands + "'";
  return named(R"sh(# Completion of @@ for fish, written by @@ --completion=fish.
function __@@_words
    set -l commands @@
    set -l known)sh" +
                   known + R"sh(
    set -l socket
    set -l before
    for word in (commandline -opc)[2..-1]
        contains -- "$commands $word" $known; and set commands "$commands $word"
        test "$before" = --socket; and set socket --socket $word
        set before $word
    end
    set -l list
    if string match -q -- '-*' (commandline -ct)
        set list (switch "$commands"
)sh" + options + R"sh(        end | string split -n ' ')
    else
        set list (switch "$commands"
)sh" + words + R"sh(        end | string split -n ' ')
    end
    test "$before" = --ue; and set list @ue
    for word in $list
        switch $word
            case @ue
                @@ $socket --timeout 1 bearers 1000 2>/dev/null | awk 'NR > 1 && !seen[$1]++ { print $1 }'
            case @counter
                @@ $socket --timeout 1 counters 2>/dev/null | awk '{ print $1 }'
            case '*'
                echo $word
        end
    end
end
complete -c @@ -n 'count (__@@_words) >/dev/null' -f -a '(__@@_words)'
)sh",
               name);
}

}  // namespace

void declare_completion(CLI::App& program, std::string& shell) {
  program
      .add_flag(
          "--completion{bash}", shell,
          "print the completion for a shell, and exit: --completion for bash, --completion=zsh, --completion=fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

std::string completion(std::string_view shell, const CLI::App& program, const std::vector<Verb>& verbs) {
  const std::string name = program.get_name();
  Table table;
  add_program(table, program, name);
  add_verbs(table, verbs, name);
  if (shell == "zsh") return zsh(table, name);
  return shell == "fish" ? fish(table, name) : bash(table, name);
}

}  // namespace sluice::manual
