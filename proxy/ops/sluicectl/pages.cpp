// Generates manual pages of sluice, sluicectl and nodeb from command-line declarations and key tables (`--manual`,
// `--manual-config`). Invariant: options and keys come from the declarations, so that a page cannot differ from the
// program.
#include "proxy/ops/sluicectl/pages.hpp"

#include <CLI/CLI.hpp>

namespace sluice::manual {
namespace {

bool is_flag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

/// Returns the name of an option as a manual page shows it: "`-h`, `--help`", "`--out` TEXT" or "file".
std::string term(const CLI::Option& option) {
  std::string names;
  const auto add = [&names](const std::string& name) { names += (names.empty() ? "`" : ", `") + name + "`"; };
  for (const std::string& name : option.get_snames()) add("-" + name);
  for (const std::string& name : option.get_lnames()) add("--" + name);
  if (names.empty()) return "`" + option.get_name(true) + "`";
  return is_flag(option) ? names : names + " " + option.get_type_name();
}

std::string meaning(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += ". Required";
  if (!option.get_default_str().empty()) text += ". Default: `" + option.get_default_str() + "`";
  if (!option.get_envname().empty()) text += ". Environment: `" + option.get_envname() + "`";
  return text + ".";
}

void list_options(Roff& page, const CLI::App& program) {
  for (const CLI::Option* option : program.get_options()) page.item(term(*option), meaning(*option));
}

void list_subcommands(Roff& page, const CLI::App& program, const std::string& before) {
  for (const CLI::App* below : program.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = before + below->get_name();
    page.subsection(name);
    page.paragraph(below->get_description() + ".");
    list_options(page, *below);
    list_subcommands(page, *below, name + " ");
  }
}

void describe(Roff& page, const Words& words) {
  page.section("DESCRIPTION");
  for (const std::string& paragraph : words.description) page.paragraph(paragraph);
}

void refer(Roff& page, const Words& words) {
  page.section("SEE ALSO");
  std::string pages;
  for (const std::string& other : words.see_also) pages += (pages.empty() ? "`" : ", `") + other + "`";
  page.paragraph(pages);
}

}  // namespace

std::string program_page(const Title& title, const Words& words, const CLI::App& program,
                         const std::vector<Verb>& verbs) {
  Roff page(title);
  const bool has_subcommands = !program.get_subcommands([](const CLI::App*) { return true; }).empty();
  page.section("SYNOPSIS");
  page.paragraph("`" + title.name + "` [options] " +
                 (has_subcommands || !verbs.empty() ? "command [arguments]" : "[file]"));
  describe(page, words);
  page.section("OPTIONS");
  list_options(page, program);
  if (has_subcommands || !verbs.empty()) page.section("COMMANDS");
  list_subcommands(page, program, "");
  for (const Verb& verb : verbs) page.item("`" + verb.usage + "`", verb.help + ".");
  page.section("NOTES");
  page.paragraph(program.get_footer());
  refer(page, words);
  return page.text();
}

std::string file_page(const Title& title, const Words& words, const std::vector<config::KeyTable>& tables) {
  Roff page(title);
  describe(page, words);
  page.section("KEYS");
  for (const config::KeyTable& table : tables) {
    page.subsection(table.path.empty() ? "Top level" : table.path);
    for (const config::KeyRow& row : table.rows) {
      const std::string range = row.range.empty() ? "" : ", " + row.range;
      page.item("`" + row.key + "` (" + row.kind + range + "; " + row.value + ")", row.meaning + ".");
    }
  }
  refer(page, words);
  return page.text();
}

}  // namespace sluice::manual
