#include "nic/two_streams.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/refusals.hpp"
#include "base/round.hpp"
#include "compress/block_lengths.hpp"
#include "nic/coded_blocks.hpp"

namespace gradcoll {
namespace {

constexpr char magic[4] = {'G', 'C', 'T', '2'};
constexpr char message_magic[4] = {'G', 'C', 'F', '1'};
/// The header of the message has its payload's length here.
constexpr std::size_t at_payload = 24;
constexpr std::size_t table_bytes = stream_sections * sizeof(std::uint32_t);
constexpr std::size_t front_bytes = frame_header_bytes + table_bytes;
constexpr std::uint32_t packed_flag = 0x8000'0000;

/// A head is a number of two bytes: originals, and 1024 times the kind of block.
constexpr unsigned kind_factor = 1024;
enum Kind : unsigned { constant = 0, of_4_bits, of_8_bits, of_16_bits, plain_elements };
constexpr unsigned bits_of_kind[] = {0, 4, 8, 16, 0};

/// The codec `int` (compress/width), each of whose blocks has a width of its own.
constexpr CodecId of_any_width{15};

/// Less is never worth a look.
constexpr std::size_t least_bytes_to_pack = 1024;
constexpr double worthwhile_part = 31.0 / 32;
/// What is not packed is tried again after so many times.
constexpr unsigned left_alone_at_most = 64;

template <class T>
T number_at(const std::byte* in) {
    T value{};
    std::memcpy(&value, in, sizeof value);
    return value;
}
template <class T>
void append_number(std::vector<std::byte>& to, T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    to.insert(to.end(), bytes, bytes + sizeof value);
}
void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Returns the size of a scale, and of an offset.
std::size_t scale_bytes(const Codec& codec) {
    return codec.type == ElementType::f64 ? sizeof(double) : sizeof(float);
}
std::size_t codes_bytes(std::size_t elems, unsigned bits) {
    return divided_up(elems * bits, std::size_t{8});
}
/// Returns how wide the codec's values are; 0 if each block says so.
unsigned width_of(const Codec& codec) {
    switch (plain(codec.id)) {
        case CodecId::int4:
            return 4;
        case CodecId::int8:
            return 8;
        case CodecId::int16:
            return 16;
        default:
            return 0;
    }
}
/// Blocks of a codec of several widths begin with a byte that says which; where there are no codes,
/// that is its narrowest one.
std::size_t width_bytes(const Codec& codec) {
    return width_of(codec) == 0 ? 1 : 0;
}
constexpr unsigned width_without_codes = 4;

/// Returns whether the codec has a tolerance: then blocks may have originals, and messages say how
/// long each is.
bool has_originals(const Codec& codec) {
    return !has_fixed_rate(codec.id, codec.parameters);
}

}  // namespace

bool has_two_streams(const Codec& codec) {
    return plain(codec.id) == of_any_width || width_of(codec) != 0;
}

// ---- what is worth packing

bool PackingPace::is_worth(std::size_t bytes, std::uint64_t spare_ns) {
    if (bytes < least_bytes_to_pack || spare_ns == 0) return false;
    const bool pays = part_ < worthwhile_part &&
                      ns_a_byte_ * static_cast<double>(bytes) <= static_cast<double>(spare_ns);
    return pays || ++left_alone_ >= left_alone_at_most;
}

void PackingPace::note(std::size_t bytes, std::size_t packed_bytes, std::uint64_t took_ns) {
    const auto all = static_cast<double>(bytes);
    const double ns_a_byte = static_cast<double>(took_ns) / all;
    const double part = static_cast<double>(packed_bytes) / all;
    const double weight = left_alone_ >= left_alone_at_most || part_ == 0 ? 1 : 0.25;
    ns_a_byte_ += (ns_a_byte - ns_a_byte_) * weight;
    part_ += (part - part_) * weight;
    left_alone_ = 0;
}

// ---- to a batch

Result<std::span<const std::byte>> TwoStreams::split(const Codec& codec, std::size_t count,
                                                     std::span<const std::byte> message,
                                                     std::uint64_t spare_ns) {
    const std::span<const std::byte> nothing;
    if (spare_ns == 0 || !has_two_streams(codec)) return nothing;
    GRADCOLL_TRY(cut(codec, count, message));
    batch_.assign(message.begin(), message.begin() + frame_header_bytes);
    std::memcpy(batch_.data(), magic, sizeof magic);
    batch_.resize(front_bytes);
    append(batch_, head_bytes_);
    bool any_packed = false;
    for (std::size_t i = 0; i < stream_sections; ++i) {
        std::span<const std::byte> travels = plain_[i];
        std::uint32_t flag = 0;
        if (paces_[i].is_worth(plain_[i].size(), spare_ns)) {
            const std::uint64_t begin_ns = thread_cpu_ns();
            const auto made = GRADCOLL_VALUE(packed(i, codec));
            const std::uint64_t took_ns = thread_cpu_ns() - begin_ns;
            spare_ns -= std::min(spare_ns, took_ns);
            paces_[i].note(plain_[i].size(), made.empty() ? plain_[i].size() : made.size(),
                           took_ns);
            if (!made.empty()) {
                travels = made;
                flag = packed_flag;
                any_packed = true;
            }
        }
        const std::uint32_t entry = static_cast<std::uint32_t>(travels.size()) | flag;
        std::memcpy(&batch_[frame_header_bytes + i * sizeof entry], &entry, sizeof entry);
        append(batch_, travels);
    }
    return any_packed && batch_.size() < message.size() ? std::span<const std::byte>(batch_)
                                                        : nothing;
}

/// Cuts a message into heads and sections.
Status TwoStreams::cut(const Codec& codec, std::size_t count, std::span<const std::byte> message) {
    head_bytes_.clear();
    for (Bytes& bytes : plain_) bytes.clear();
    const FrameHeader header = GRADCOLL_VALUE(read_frame_header(message.data(), message.size()));
    const std::span<const std::byte> payload = message.subspan(frame_header_bytes);
    if (!has_originals(codec)) {
        cut_fixed(codec, count, payload);
        return {};
    }
    BlockReader blocks =
        GRADCOLL_VALUE(header.is_plain ? BlockReader::of_plain(codec, count, payload)
                                       : BlockReader::of(codec, count, payload));
    while (!blocks.is_at_end()) {
        const CodedBlockBytes block = GRADCOLL_VALUE(blocks.next());
        if (!block.is_plain) {
            cut_block(codec, block.elems, block.bytes);
            continue;
        }
        append_number(head_bytes_,
                      static_cast<std::uint16_t>(plain_elements * kind_factor + block.elems));
        append(section(StreamSection::originals), block.bytes);
    }
    return blocks.end();
}

/// Cuts what a codec of fixed rate has written.
void TwoStreams::cut_fixed(const Codec& codec, std::size_t count,
                           std::span<const std::byte> payload) {
    for (std::size_t left = count; left > 0;) {
        const std::size_t elems = std::min(block_elems(codec), left);
        const std::size_t size = 2 * scale_bytes(codec) + codes_bytes(elems, width_of(codec));
        cut_block(codec, elems, payload.first(size));
        payload = payload.subspan(size);
        left -= elems;
    }
}

/// Cuts a block that is not plain. A constant one has a scale of 0.
void TwoStreams::cut_block(const Codec& codec, std::size_t elems,
                           std::span<const std::byte> block) {
    const std::size_t front = width_bytes(codec), grid = 2 * scale_bytes(codec);
    const unsigned bits = front == 0 ? width_of(codec) : std::to_integer<unsigned>(block.front());
    const std::span<const std::byte> rest = block.subspan(front + grid);
    const unsigned kind = rest.empty() ? constant
                          : bits == 4  ? of_4_bits
                          : bits == 8  ? of_8_bits
                                       : of_16_bits;
    const std::size_t codes = kind == constant ? 0 : codes_bytes(elems, bits);
    const std::size_t originals = (rest.size() - codes) / element_bytes(codec.type);
    append_number(head_bytes_, static_cast<std::uint16_t>(kind * kind_factor + originals));
    append(head_bytes_, block.subspan(front, grid));
    add_codes(bits, rest.first(codes));
    append(section(StreamSection::originals), rest.subspan(codes));
}

void TwoStreams::add_codes(unsigned bits, std::span<const std::byte> codes) {
    if (bits != 16)
        return append(section(bits == 4 ? StreamSection::codes_of_4 : StreamSection::codes_of_8),
                      codes);
    Bytes& low = section(StreamSection::low_of_16);
    Bytes& high = section(StreamSection::high_of_16);
    const std::size_t before = low.size(), count = codes.size() / 2;
    low.resize(before + count);
    high.resize(before + count);
    for (std::size_t i = 0; i < count; ++i) {
        low[before + i] = codes[2 * i];
        high[before + i] = codes[2 * i + 1];
    }
}

/// Returns a section as it travels packed; nothing if that is no shorter.
Result<std::span<const std::byte>> TwoStreams::packed(std::size_t which, const Codec& codec) {
    if (which == static_cast<std::size_t>(StreamSection::originals)) return packed_originals(codec);
    Packer* const packs = GRADCOLL_VALUE(packer());
    Bytes& out = packed_[which];
    out.resize(plain_[which].size() - 1);
    return std::span<const std::byte>(out.data(), packs->pack(plain_[which], out));
}

/// Packs originals as blocks of zip, each behind its length.
Result<std::span<const std::byte>> TwoStreams::packed_originals(const Codec& codec) {
    const Codec zip = GRADCOLL_VALUE(codec_for(CodecId::zip, codec.type));
    const Bytes& plain = section(StreamSection::originals);
    const std::size_t elem = element_bytes(codec.type), block = codec_block_elems(zip.id);
    Bytes& out = packed_[static_cast<std::size_t>(StreamSection::originals)];
    std::size_t end = 0;
    for (std::size_t at = 0; at < plain.size(); at += block * elem) {
        const std::size_t count = std::min(block, (plain.size() - at) / elem);
        const std::size_t most = sizeof(std::uint16_t) + bound_bytes(zip.id, elem, count);
        out.resize(std::max(out.size(), end + most));
        const auto size = static_cast<std::uint16_t>(
            zip.encode(&plain[at], count, &out[end + sizeof(std::uint16_t)]));
        std::memcpy(&out[end], &size, sizeof size);
        end += sizeof size + size;
    }
    return std::span<const std::byte>(out.data(), end < plain.size() ? end : 0);
}

// ---- and back

bool TwoStreams::is_batch(std::span<const std::byte> coded) {
    return coded.size() >= sizeof magic && std::memcmp(coded.data(), magic, sizeof magic) == 0;
}

Result<std::size_t> TwoStreams::join(std::span<const std::byte> batch, std::span<std::byte> room) {
    const Front front = GRADCOLL_VALUE(read_front(batch, room.size()));
    std::span<const std::byte> rest = batch.subspan(front_bytes);
    GRADCOLL_TRY(read_heads(front, rest));
    const std::size_t size = GRADCOLL_VALUE(message_bytes(front));
    if (size > room.size())
        return corrupt("a batch of {} bytes where there is room for {}", size, room.size());
    GRADCOLL_TRY(unpack(front, rest));
    put_together(front, room.first(size));
    return size;
}

/// Reads header and table. No more elements than there is room for are believed.
Result<TwoStreams::Front> TwoStreams::read_front(std::span<const std::byte> batch,
                                                 std::size_t room_bytes) {
    if (batch.size() < front_bytes) return corrupt("a batch of {} bytes", batch.size());
    std::array<std::byte, frame_header_bytes> header;
    std::copy_n(batch.begin(), header.size(), header.begin());
    std::memcpy(header.data(), message_magic, sizeof message_magic);
    const auto payload = number_at<std::uint64_t>(&header[at_payload]);
    Front front;
    front.header = GRADCOLL_VALUE(
        read_frame_header(header.data(), frame_header_bytes + static_cast<std::size_t>(payload)));
    const FrameHeader& said = front.header;
    front.codec = GRADCOLL_VALUE(codec_of(said));
    if (!has_two_streams(front.codec)) return corrupt("a batch of {}", name_of(said.codec));
    if (room_bytes < frame_header_bytes ||
        said.count_elems > (room_bytes - frame_header_bytes) / element_bytes(said.type))
        return corrupt("a batch of {} elements where there is room for {} bytes", said.count_elems,
                       room_bytes);
    for (std::size_t i = 0; i < stream_sections; ++i)
        front.lengths[i] =
            number_at<std::uint32_t>(&batch[frame_header_bytes + i * sizeof(std::uint32_t)]);
    return front;
}

/// Reads the heads of all blocks, and takes them off the rest.
Status TwoStreams::read_heads(const Front& front, std::span<const std::byte>& rest) {
    heads_.clear();
    const std::size_t block = block_elems(front.codec);
    const unsigned width = width_of(front.codec);
    for (std::size_t left = front.header.count_elems; left > 0; left -= heads_.back().elems) {
        if (rest.size() < sizeof(std::uint16_t)) return corrupt("a batch without all its heads");
        const auto number = number_at<std::uint16_t>(rest.data());
        const unsigned kind = number / kind_factor;
        Head head;
        head.elems = std::min(block, left);
        head.originals = number % kind_factor;
        rest = rest.subspan(sizeof number);
        head.is_plain = kind == plain_elements;
        if (kind > plain_elements || head.originals > head.elems ||
            (head.is_plain && head.originals != head.elems) ||
            (kind == constant && head.originals != 0))
            return corrupt("a block of kind {} with {} originals of {}", kind, head.originals,
                           head.elems);
        head.bits = bits_of_kind[kind];
        const bool may_lack_codes = width == 0 || has_originals(front.codec);
        if ((width != 0 && head.bits != 0 && head.bits != width) ||
            (!may_lack_codes && (head.bits == 0 || head.originals != 0)))
            return corrupt("a block of {} bits in a batch of {}", head.bits,
                           name_of(front.codec.id));
        if (!head.is_plain) {
            const std::size_t grid = 2 * scale_bytes(front.codec);
            if (rest.size() < grid) return corrupt("a batch without all its heads");
            head.grid = rest.first(grid);
            rest = rest.subspan(grid);
        }
        heads_.push_back(head);
    }
    return {};
}

/// Returns the length of the block that the head is of.
std::size_t TwoStreams::block_bytes(const Codec& codec, const Head& head) {
    const std::size_t originals = head.originals * element_bytes(codec.type);
    if (head.is_plain) return originals;
    return width_bytes(codec) + head.grid.size() + codes_bytes(head.elems, head.bits) + originals;
}

/// Writes the lengths of the blocks, or only counts them if `out` is null. Returns how many bytes
/// they have: none if all blocks are plain, or the rate is fixed.
std::size_t TwoStreams::write_lengths(const Codec& codec, std::byte* out) const {
    if (!has_originals(codec)) return 0;
    BlockLengthsWriter lengths(out);
    for (const Head& head : heads_)
        head.is_plain ? lengths.add_plain() : lengths.add_encoded(block_bytes(codec, head));
    return lengths.has_encoded() ? lengths.size_bytes() : 0;
}

/// Returns the length of the message. Errors: corrupt if the header says another one.
Result<std::size_t> TwoStreams::message_bytes(const Front& front) const {
    const std::size_t lengths = write_lengths(front.codec, nullptr);
    const bool is_plain = has_originals(front.codec) && lengths == 0;
    std::size_t payload = lengths;
    for (const Head& head : heads_) payload += block_bytes(front.codec, head);
    if (front.header.is_plain != is_plain || payload != front.header.payload_bytes)
        return corrupt("a batch of {} bytes whose message has {}", front.header.payload_bytes,
                       payload);
    return frame_header_bytes + payload;
}

/// Unpacks the sections, whose lengths follow from the heads.
Status TwoStreams::unpack(const Front& front, std::span<const std::byte> rest) {
    std::array<std::size_t, stream_sections> expected{};
    const auto expect = [&](StreamSection which, std::size_t bytes) {
        expected[static_cast<std::size_t>(which)] += bytes;
    };
    for (const Head& head : heads_) {
        expect(StreamSection::originals, head.originals * element_bytes(front.codec.type));
        if (head.bits == 4) expect(StreamSection::codes_of_4, codes_bytes(head.elems, 4));
        if (head.bits == 8) expect(StreamSection::codes_of_8, head.elems);
        if (head.bits != 16) continue;
        expect(StreamSection::low_of_16, head.elems);
        expect(StreamSection::high_of_16, head.elems);
    }
    for (std::size_t i = 0; i < stream_sections; ++i) {
        const bool is_packed = (front.lengths[i] & packed_flag) != 0;
        const std::size_t size = front.lengths[i] & ~packed_flag;
        if (size > rest.size() || (!is_packed && size != expected[i]))
            return corrupt("section {} of a batch has {} bytes, {} of {} are there", i, size,
                           rest.size(), expected[i]);
        const std::span<const std::byte> travels = rest.first(size);
        rest = rest.subspan(size);
        plain_[i].resize(expected[i]);
        if (!is_packed) {
            std::copy(travels.begin(), travels.end(), plain_[i].begin());
        } else if (i == static_cast<std::size_t>(StreamSection::originals)) {
            GRADCOLL_TRY(unpack_originals(front.codec, travels));
        } else {
            Packer* const packs = GRADCOLL_VALUE(packer());
            if (!packs->unpack(travels, plain_[i]))
                return corrupt("section {} of a batch is no packing of {} bytes", i, expected[i]);
        }
    }
    return rest.empty() ? Status() : corrupt("{} bytes behind a batch", rest.size());
}

Status TwoStreams::unpack_originals(const Codec& codec, std::span<const std::byte> packed) {
    const Codec zip = GRADCOLL_VALUE(codec_for(CodecId::zip, codec.type));
    Bytes& plain = section(StreamSection::originals);
    const std::size_t elem = element_bytes(codec.type), block = codec_block_elems(zip.id);
    for (std::size_t at = 0; at < plain.size(); at += block * elem) {
        const std::size_t count = std::min(block, (plain.size() - at) / elem);
        constexpr std::size_t front = sizeof(std::uint16_t);
        const std::size_t size =
            packed.size() < front ? 0 : number_at<std::uint16_t>(packed.data());
        if (packed.size() < front + size ||
            !zip.decode(packed.data() + front, size, count, &plain[at]))
            return corrupt("{} originals of a batch, packed in {} bytes", count, size);
        packed = packed.subspan(front + size);
    }
    return packed.empty() ? Status() : corrupt("{} bytes behind the originals", packed.size());
}

/// Puts the message together; all lengths have been checked.
void TwoStreams::put_together(const Front& front, std::span<std::byte> room) {
    write_frame_header(front.header, room.data());
    taken_.fill(0);
    std::byte* to = room.data() + frame_header_bytes;
    if (!front.header.is_plain) to += write_lengths(front.codec, to);
    for (const Head& head : heads_) to = put_block(front, head, to);
}

std::byte* TwoStreams::put_block(const Front& front, const Head& head, std::byte* to) {
    const auto taken = [&](StreamSection which, std::size_t bytes) {
        std::size_t& at = taken_[static_cast<std::size_t>(which)];
        const std::byte* const from = section(which).data() + at;
        at += bytes;
        return from;
    };
    const std::size_t codes = codes_bytes(head.elems, head.bits);
    if (!head.is_plain && width_bytes(front.codec) != 0)
        *to++ = static_cast<std::byte>(head.bits == 0 ? width_without_codes : head.bits);
    to = std::copy(head.grid.begin(), head.grid.end(), to);
    if (head.bits == 16) {
        const std::byte* const low = taken(StreamSection::low_of_16, head.elems);
        const std::byte* const high = taken(StreamSection::high_of_16, head.elems);
        for (std::size_t i = 0; i < head.elems; ++i, to += 2) {
            to[0] = low[i];
            to[1] = high[i];
        }
    } else if (head.bits != 0) {
        const StreamSection which =
            head.bits == 4 ? StreamSection::codes_of_4 : StreamSection::codes_of_8;
        to = std::copy_n(taken(which, codes), codes, to);
    }
    const std::size_t originals = head.originals * element_bytes(front.codec.type);
    return std::copy_n(taken(StreamSection::originals, originals), originals, to);
}

Result<Packer*> TwoStreams::packer() {
    if (!packer_) GRADCOLL_TRY(take(packer_, make_byte_packer()));
    return packer_.get();
}

}  // namespace gradcoll
