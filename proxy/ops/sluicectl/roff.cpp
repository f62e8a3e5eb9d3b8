#include "proxy/ops/sluicectl/roff.hpp"

#include <algorithm>
#include <cctype>

namespace sluice::manual {
namespace {

/// Returns a text as a quoted argument of a roff macro. Quotation marks in the text are escaped.
std::string macro_argument(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

/// Returns a text in which roff commands are escaped. Text between backticks becomes bold.
std::string escaped(std::string_view text) {
  std::string out;
  bool bold = false;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '`') {
      bold = !bold;
      out += bold ? "\\fB" : "\\fR";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

Roff::Roff(const Title& title) {
  text_ = ".TH " + macro_argument(upper_case(title.name)) + " " + std::to_string(title.section) + " \"\" " +
          macro_argument("sluice " + title.version) + " \"Sluice\"\n";
  // Hyphenation is off, so that keys and words can be found as typed.
  text_ += ".nh\n.ad l\n";
  section("NAME");
  text_ += escaped(title.name) + " \\- " + escaped(title.summary) + "\n";
}

void Roff::section(std::string_view name) {
  text_ += ".SH " + macro_argument(name) + "\n";
}

void Roff::subsection(std::string_view name) {
  text_ += ".SS " + macro_argument(name) + "\n";
}

void Roff::paragraph(std::string_view text) {
  text_ += ".PP\n" + escaped(text) + "\n";
}

void Roff::item(std::string_view term, std::string_view text) {
  text_ += ".TP\n" + escaped(term) + "\n" + escaped(text) + "\n";
}

}  // namespace sluice::manual
