// tests/fuzz/codecs_main.cpp - damaged messages of a peer: every decoder of every codec, type and
// instruction set gets encodings with random changes, from buffers of exactly their length into
// buffers of exactly that of their elements. A sanitizer sees accesses out of bounds; a decoder
// that does not return hangs the test.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "command_line/option_parser.hpp"
#include "compress/codec_cases.hpp"
#include "compress/frame.hpp"

namespace gradcoll::test {
namespace {

/// Draw is xorshift64*: quick, and the same everywhere.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : state_(88172645463325252U ^ (seed - 1) << 8U) {}
    std::uint64_t operator()() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1dU;
    }
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>((*this)() % limit); }

  private:
    std::uint64_t state_;
};

/// Returns a header and an encoding.
Bytes message_of(const Codec& codec, Data data, std::size_t count) {
    const Bytes elements = make_data(data, codec.type, count);
    Bytes message(frame_header_bytes + bound_bytes(codec.id, element_bytes(codec.type), count));
    const std::size_t size =
        codec.encode(elements.data(), count, message.data() + frame_header_bytes);
    message.resize(frame_header_bytes + size);
    write_frame_header({plain(codec.id), codec.parameters, codec.type, false, count, size},
                       message.data());
    return message;
}

/// Changes some bits or bytes of the header, of the beginning of the encoding or anywhere.
void mutate(std::byte* bytes, std::size_t size, Draw& draw) {
    const std::size_t early = std::min(size, frame_header_bytes + 20);
    if (draw.below(16) == 0) {
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(draw() >> 32);
        return;
    }
    for (std::size_t changes = draw.below(6); changes > 0; --changes) {
        const std::size_t at = draw.below(draw.below(2) == 0 ? early : size);
        if (draw.below(2) == 0)
            bytes[at] ^= static_cast<std::byte>(1U << draw.below(8));
        else
            bytes[at] = static_cast<std::byte>(draw() >> 32);
    }
}

struct Outcome {
    std::uint64_t inputs = 0, taken = 0;
};

/// Decodes a message, of its own length or another.
void feed(const Codec& codec, const Bytes& message, std::size_t count, std::byte* out, Draw& draw,
          Outcome& outcome) {
    const std::size_t size = draw.below(8) == 0 ? draw.below(message.size() + 40) : message.size();
    const auto input = std::make_unique<std::byte[]>(size);
    std::memcpy(input.get(), message.data(), std::min(size, message.size()));
    if (size > 0) mutate(input.get(), size, draw);
    (void)read_frame_header(input.get(), size).ok();
    ++outcome.inputs;
    const std::size_t front = std::min(size, frame_header_bytes);
    const std::byte* const payload = input.get() + front;
    const bool is_taken = outcome.inputs % 2 == 0
                              ? codec.decode(payload, size - front, count, out)
                              : codec.decode_sum(payload, size - front, count, out, out);
    outcome.taken += is_taken ? 1 : 0;
}

void feed_all(std::uint64_t inputs_a_decoder, std::uint64_t seed, Outcome& outcome) {
    constexpr std::size_t counts[] = {1, 7, 100, 512, 700};
    Draw draw(seed);
    for (const CodecCase& each : all_codec_cases()) {
        const Codec codec = *codec_for(each.codec, each.type, each.isa);
        const std::uint64_t share = inputs_a_decoder / (std::size(counts) * std::size(all_data));
        for (const std::size_t count : counts)
            for (const Data data : all_data) {
                const Bytes message = message_of(codec, data, count);
                const auto out = std::make_unique<std::byte[]>(count * element_bytes(each.type));
                for (std::uint64_t i = 0; i <= share; ++i)
                    feed(codec, message, count, out.get(), draw, outcome);
            }
    }
}

}  // namespace
}  // namespace gradcoll::test

int main(int argc, char** argv) {
    gradcoll::OptionParser app("Feeds every decoder messages that were changed by chance",
                               "fuzz_codecs");
    std::uint64_t inputs = 1000, seed = 1;
    app.add_option("--inputs", inputs, "how many each decoder gets")->positive();
    app.add_option("--seed", seed, "of chance")->positive();
    if (const auto status = app.exit_status(argc, argv)) return *status;
    gradcoll::test::Outcome outcome;
    gradcoll::test::feed_all(inputs, seed, outcome);
    fmt::print("{} messages, {} of them decoded\n", outcome.inputs, outcome.taken);
    return outcome.taken > 0 && outcome.taken < outcome.inputs ? 0 : 1;
}
