// fuzz_settings_guided - runs the same targets with clang's libFuzzer: cmake
// -DGRADCOLL_LIBFUZZER=ON with CC=clang CXX=clang++. The first byte of an input chooses the target.
#include <cstddef>
#include <cstdint>

#include "fuzz/runner.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto targets = gradcoll::fuzz::settings_targets();
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    targets[data[0] % targets.size()].run(text);
    return 0;
}
