#include "emulator/provenance/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>

namespace sluice::emulator {
namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

[[noreturn]] void refuse() {
  throw std::runtime_error("the cryptographic library refuses SHA-256");
}

std::string in_digits(std::span<const unsigned char> digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) refuse();
  return in_digits(std::span(digest).first(length));
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) refuse();
  std::array<char, 65536> block{};
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    if (EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(file.gcount())) != 1) refuse();
  }
  Digest digest{};
  unsigned length = 0;
  if (EVP_DigestFinal_ex(context.get(), digest.data(), &length) != 1) refuse();
  return in_digits(std::span(digest).first(length));
}

}  // namespace sluice::emulator
