// main() for a fuzz target that is built without a fuzzer: it runs the inputs that are kept, each once. What a run of
// the fuzzer has found once is so looked at by every test run, in a second and by any compiler.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

// The interface of libFuzzer; a target may leave out the first one.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) __attribute__((weak));
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// Exactly as many bytes as there are, so that AddressSanitizer sees a read beyond them.
std::vector<std::uint8_t> bytes_of(const std::filesystem::path& file) {
  std::vector<std::uint8_t> bytes(std::filesystem::file_size(file));
  std::ifstream in(file, std::ios::binary);
  in.exceptions(std::ios::badbit | std::ios::failbit | std::ios::eofbit);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

void run(const std::vector<std::uint8_t>& input) {
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER   runs each input in it\n", argv[0]);
    return 2;
  }
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  run({});
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::printf("%s\n", entry.path().filename().c_str());
    std::fflush(stdout);  // the last one named is the one that ends the program
    run(bytes_of(entry.path()));
    ++inputs;
  }
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
