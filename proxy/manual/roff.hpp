#pragma once

#include <string>
#include <string_view>

namespace sluice::manual {

/// Where a page stands, and what it is about.
struct Title {
  std::string name;     ///< "sluice.yaml"
  int section = 1;      ///< 1 commands, 5 files, 8 administration
  std::string summary;  ///< half a sentence, for apropos(1)
  std::string version;
};

/// Writes a page in the language of man(7). Texts are plain; backticks in them stand around what is typed.
class Roff {
 public:
  explicit Roff(const Title& title);

  void section(std::string_view name);
  void subsection(std::string_view name);
  void paragraph(std::string_view text);
  /// A term and what it means.
  void item(std::string_view term, std::string_view text);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace sluice::manual
