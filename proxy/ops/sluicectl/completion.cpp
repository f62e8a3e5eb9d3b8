// Generates the bash completion of sluice, sluicectl and nodeb from their command-line declarations (`--completion`).
// Invariant: options and commands come from CLI11 and the verb tables only, so that the completion cannot differ from
// what the program accepts.
#include "proxy/ops/sluicectl/completion.hpp"

#include <CLI/CLI.hpp>
#include <cctype>

namespace sluice::manual {
namespace {

/// Tables of the generated bash script: from the words typed so far ("nodeb", "nodeb trace") to the options and words
/// that may follow.
struct Tables {
  std::string options;
  std::string words;

  static void add(std::string& table, const std::string& commands, const std::string& list) {
    table += "    [\"" + commands + "\"]=\"" + list + "\"\n";
  }
};

void append(std::string& list, const std::string& word) {
  list += (list.empty() ? "" : " ") + word;
}

/// Returns the literal words of a usage text: "drain", "off" and "status" of "drain [off|status]". Words in upper
/// case are placeholders.
std::vector<std::string> fixed_words(const std::string& usage) {
  std::vector<std::string> words(1);
  for (const char c : usage) {
    if (c == ' ' || c == '|' || c == '[' || c == ']') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || std::isupper(static_cast<unsigned char>(word.front())) != 0;
  });
  return words;
}

void add_program(Tables& tables, const CLI::App& program, const std::string& commands) {
  std::string options;
  for (const CLI::Option* option : program.get_options()) {
    for (const std::string& name : option->get_lnames()) append(options, "--" + name);
  }
  Tables::add(tables.options, commands, options);
  std::string words;
  for (const CLI::App* below : program.get_subcommands([](const CLI::App*) { return true; })) {
    append(words, below->get_name());
    add_program(tables, *below, commands + " " + below->get_name());
  }
  if (!words.empty()) Tables::add(tables.words, commands, words);
}

void add_verbs(Tables& tables, const std::vector<Verb>& verbs, const std::string& program) {
  std::string names;
  for (const Verb& verb : verbs) {
    const std::vector<std::string> fixed = fixed_words(verb.usage);
    append(names, fixed.front());
    std::string options;
    std::string words;
    for (std::size_t i = 1; i < fixed.size(); ++i) append(fixed[i].starts_with("--") ? options : words, fixed[i]);
    Tables::add(tables.options, program + " " + fixed.front(), options);
    if (!words.empty()) Tables::add(tables.words, program + " " + fixed.front(), words);
  }
  if (!names.empty()) Tables::add(tables.words, program, names);
}

}  // namespace

std::string bash_completion(const CLI::App& program, const std::vector<Verb>& verbs) {
  const std::string name = program.get_name();
  Tables tables;
  add_program(tables, program, name);
  add_verbs(tables, verbs, name);
  return "# Completion of " + name + " for bash, written by " + name + " --completion.\n_" + name +
         "() {\n  local commands=" + name + " next word current=${COMP_WORDS[COMP_CWORD]}\n  local -A options=(\n" +
         tables.options + "  ) words=(\n" + tables.words +
         "  )\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    next=\"$commands $word\"\n"
         "    [[ -z ${options[\"$next\"]+known} ]] || commands=$next\n"
         "  done\n"
         "  case $current in\n"
         "    -*) mapfile -t COMPREPLY < <(compgen -W \"${options[\"$commands\"]}\" -- \"$current\") ;;\n"
         "    *) mapfile -t COMPREPLY < <(compgen -W \"${words[\"$commands\"]}\" -- \"$current\") ;;\n"
         "  esac\n"
         "}\ncomplete -o bashdefault -o default -F _" +
         name + " " + name + "\n";
}

}  // namespace sluice::manual
