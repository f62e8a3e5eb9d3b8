#pragma once

#include <string>
#include <string_view>

namespace sluice::manual {

/// Name, section and summary of a manual page.
struct Title {
  std::string name;     ///< name of the page, such as "sluice.yaml"
  int section = 1;      ///< manual section: 1 for commands, 5 for files, 8 for administration
  std::string summary;  ///< short phrase that describes the page, for apropos(1)
  std::string version;
};

/// Writes a manual page in the format of man(7). Arguments are plain text, in which backticks enclose literal text.
class Roff {
 public:
  explicit Roff(const Title& title);

  void section(std::string_view name);
  void subsection(std::string_view name);
  void paragraph(std::string_view text);
  /// Adds a term and its explanation to a list.
  void item(std::string_view term, std::string_view text);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace sluice::manual
