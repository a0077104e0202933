#include "packing_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

#include "checked.hpp"
#include "compress/block_lengths.hpp"
#include "compress/codec.hpp"
#include "compress/frame.hpp"
#include "compress/lossless/packer.hpp"
#include "nic/two_streams.hpp"
#include "reduce/extent.hpp"

namespace gradcoll::bench {
namespace {

using Message = std::vector<std::byte>;

struct Payload {
    Message lengths;
    Message encodings;
    bool is_plain = false;
};

/// Encodes block by block, and keeps the lengths of the blocks.
Payload variable_payload(const Codec& codec, const float* values, std::size_t count) {
    const std::size_t block = codec_block_elems(codec.id);
    Payload payload;
    payload.lengths.resize(counted_blocks(codec.id, count) * block_length_bytes);
    BlockLengthsWriter lengths(payload.lengths.data());
    for (std::size_t at = 0; at < count; at += block) {
        const std::size_t elems = std::min(block, count - at);
        Message encoded(bound_bytes(codec.id, sizeof(float), elems));
        encoded.resize(codec.encode(values + at, elems, encoded.data()));
        if (saves_bytes(encoded.size(), elems * sizeof(float))) {
            lengths.add_encoded(encoded.size());
        } else {
            lengths.add_plain();
            encoded.assign(reinterpret_cast<const std::byte*>(values + at),
                           reinterpret_cast<const std::byte*>(values + at + elems));
        }
        payload.encodings.insert(payload.encodings.end(), encoded.begin(), encoded.end());
    }
    payload.is_plain = !lengths.has_encoded();
    payload.lengths.resize(payload.is_plain ? 0 : lengths.size_bytes());
    return payload;
}

Payload payload_of(const Codec& codec, const float* values, std::size_t count) {
    if (!has_fixed_rate(codec.id)) return variable_payload(codec, values, count);
    Payload payload;
    payload.encodings.resize(bound_bytes(codec.id, sizeof(float), count));
    codec.encode(values, count, payload.encodings.data());
    return payload;
}

/// Makes a message as the runtime does.
Message message_of(const Codec& codec, const float* values, std::size_t count) {
    const Payload payload = payload_of(codec, values, count);
    Message message(frame_header_bytes);
    message.insert(message.end(), payload.lengths.begin(), payload.lengths.end());
    message.insert(message.end(), payload.encodings.begin(), payload.encodings.end());
    FrameHeader header;
    header.codec = plain(codec.id);
    header.parameters = codec.parameters;
    header.count_elems = count;
    header.payload_bytes = message.size() - frame_header_bytes;
    header.is_plain = payload.is_plain;
    write_frame_header(header, message.data());
    return message;
}

std::size_t total_bytes(const std::vector<Message>& messages) {
    std::size_t total = 0;
    for (const Message& message : messages) total += message.size();
    return total;
}

std::size_t longest(const std::vector<Message>& messages) {
    std::size_t most = 0;
    for (const Message& message : messages) most = std::max(most, message.size());
    return most;
}

struct Row {
    double part = 1;  ///< packed bytes as a part of the bytes
    double pack_gb_s = 0;
    double unpack_gb_s = 0;
};

/// `pack` returns what a message becomes, or nothing if that is no shorter; `unpack` takes what
/// was packed.
template <class Pack, class Unpack>
Row measure(const std::vector<Message>& messages, int repetitions, Pack pack, Unpack unpack) {
    std::vector<Message> packed = messages;
    const auto pack_all = [&] {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const std::span<const std::byte> made = pack(messages[i]);
            if (made.empty())
                packed[i] = messages[i];
            else
                packed[i].assign(made.begin(), made.end());
        }
    };
    const auto unpack_all = [&] {
        for (std::size_t i = 0; i < messages.size(); ++i)
            if (packed[i].size() < messages[i].size()) unpack(packed[i]);
    };
    const auto bytes = static_cast<double>(total_bytes(messages));
    Row row;
    row.pack_gb_s = bytes / fastest_seconds(repetitions, pack_all) * 1e-9;
    row.unpack_gb_s = bytes / fastest_seconds(repetitions, unpack_all) * 1e-9;
    row.part = static_cast<double>(total_bytes(packed)) / bytes;
    return row;
}

Row measure(const std::vector<Message>& messages, Packer& packer, int repetitions) {
    Message out(longest(messages)), room(longest(messages));
    return measure(
        messages, repetitions,
        [&](const Message& message) {
            return std::span<const std::byte>(out).first(pack_message(message, packer, out.data()));
        },
        [&](const Message& message) { checked(unpack_message(message, packer, room)); });
}

/// Measures what the NIC agents do while a link is busy.
Row measure_streams(const std::vector<Message>& messages, const Codec& codec,
                    const PackingSelection& selection) {
    TwoStreams streams;
    Message room(frame_header_bytes + selection.message_elems * sizeof(float));
    return measure(
        messages, selection.repetitions,
        [&](const Message& message) {
            const FrameHeader header = checked(read_frame_header(message.data(), message.size()));
            return checked(streams.split(codec, header.count_elems, message, ~std::uint64_t{0}));
        },
        [&](const Message& message) { checked(streams.join(message, room)); });
}

void print_row(const std::string& front, std::string_view packing, double bits, const Row& row) {
    // If the link is faster than this, packing takes longer at both ends than the saved bytes
    // would.
    const double pays_below = (1 - row.part) / (1 / row.pack_gb_s + 1 / row.unpack_gb_s) * 8e3;
    fmt::print("{} | {} | {:.2f} | {:.2f} | {:.3f} | {:.2f} | {:.2f} | {:.0f} |\n", front, packing,
               bits, bits * row.part, row.part, row.pack_gb_s, row.unpack_gb_s, pays_below);
    std::fflush(stdout);
}

void print_rows(const PackingSelection& selection, const std::string& data,
                const std::vector<float>& values, const Codec& codec, const std::string& told) {
    std::vector<Message> messages;
    for (std::size_t at = 0; at < values.size(); at += selection.message_elems)
        messages.push_back(message_of(codec, values.data() + at,
                                      std::min(selection.message_elems, values.size() - at)));
    const double bits =
        8.0 * static_cast<double>(total_bytes(messages)) / static_cast<double>(values.size());
    const std::string front = fmt::format("| {} | {}", data, told);
    for (const Packing packing : {Packing::zstd, Packing::lz4}) {
        const auto packer = checked(make_packer(packing));
        print_row(front, name_of(packing), bits, measure(messages, *packer, selection.repetitions));
    }
    if (has_two_streams(codec))
        print_row(front, "two streams", bits, measure_streams(messages, codec, selection));
}

}  // namespace

void print_packing_table(const PackingSelection& selection) {
    fmt::print(
        "| data | codec | packing | bits a value | packed | part | pack, GB/s | unpack, GB/s | "
        "pays below, Mbit/s |\n|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string& data : selection.data) {
        const std::vector<float> values = values_of(data, selection.count);
        const double range = extent_of(ElementType::f32, values.data(), values.size()).range();
        for (const std::string& name : selection.codecs) {
            const CodecId id = checked(codec_from_name(name));
            Codec codec = checked(codec_for(id, ElementType::f32));
            if (!waits_for_tolerance(id)) {
                print_rows(selection, data, values, codec, name);
                continue;
            }
            for (const double part : selection.ranges) {
                codec.parameters.abs = part * range;
                print_rows(selection, data, values, codec,
                           fmt::format("{}, {:g} of the range", name, part));
            }
        }
    }
}

}  // namespace gradcoll::bench
