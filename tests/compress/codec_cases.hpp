// tests/compress/codec_cases.hpp - every codec x type x instruction set, and inputs that are hard
// for all of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compress/codec.hpp"
#include "compress/reference.hpp"

namespace gradcoll::test {

struct CodecCase {
    CodecId codec;
    ElementType type;
    InstructionSet isa;
};
/// Returns all codecs, those that take a tolerance also with each of these, and with a relative
/// one.
std::vector<CodecId> codecs_with_tolerances(std::initializer_list<double> tolerances);
std::vector<CodecCase> all_codec_cases();
std::vector<CodecCase> lossy_codec_cases();
/// Group is that of an N:M codec, or of a chain that begins with one: N and M, as its name says.
struct Group {
    std::size_t keep, group;
};
std::optional<Group> group_of(CodecId codec);
/// Returns whether devices run it: all of the library's own codecs but those of variable rate, and
/// packed ones.
bool runs_on_devices(CodecId codec);
/// Returns a name such as "2_4_fp32_avx512".
std::string case_name(const testing::TestParamInfo<CodecCase>& info);

/// Data names inputs: what a gradient looks like, what tests ties, and what a diverging run
/// produces.
enum class Data { normal, ties, special };
inline constexpr Data all_data[] = {Data::normal, Data::ties, Data::special};
Bytes make_data(Data data, ElementType type, std::size_t count, std::uint32_t seed = 1);

/// Returns 0 to 70, around one and two blocks, and a large odd one.
std::vector<std::size_t> hard_counts();

/// A GuardedBuffer has exactly `bytes` on the heap (so that a sanitizer sees every overrun) between
/// two canaries, at `shift` bytes from an aligned address.
class GuardedBuffer {
  public:
    explicit GuardedBuffer(std::size_t bytes, std::size_t shift = 0);
    explicit GuardedBuffer(const Bytes& content, std::size_t shift = 0);
    std::size_t size() const { return bytes_; }
    std::byte* data() { return storage_.get() + guard_bytes + shift_; }
    Bytes content() const;
    bool canaries_intact() const;

  private:
    static constexpr std::size_t guard_bytes = 128;
    std::size_t bytes_, shift_;
    std::unique_ptr<std::byte[]> storage_;
};

/// Returns whether two arrays have the same bits, any NaN being equal to any other.
testing::AssertionResult same_but_nan_payload(ElementType type, const Bytes& got,
                                              const Bytes& want);

}  // namespace gradcoll::test
