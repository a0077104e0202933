#include "ways/tree/residual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/hash.hpp"
#include "compress/codec.hpp"

namespace gradcoll {
namespace {

constexpr std::uint64_t magic = 0x3130534552434347ULL;  // "GCCRES01" in the order of the bytes
constexpr std::uint64_t version = 1;

/// Word numbers the words of the header, which are little endian on disk. The values follow, then
/// the checksum of all before it.
enum Word : std::size_t {
    word_magic,
    word_version,
    word_count,
    word_type,
    word_tree,
    word_rank,
    word_layout,
    word_elems,
    word_total
};
using Header = std::array<std::uint64_t, word_total>;

constexpr const char* word_names[] = {"magic number", "version",         "count",
                                      "element type", "tree (its hash)", "rank",
                                      "layout hash",  "number of values"};

void put_word(std::uint64_t word, std::byte* out) {
    for (int i = 0; i < 8; ++i) out[i] = static_cast<std::byte>(word >> (8 * i));
}

std::uint64_t get_word(const std::byte* in) {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= static_cast<std::uint64_t>(in[i]) << (8 * i);
    return word;
}

Header header_of(const ResidualIdentity& identity) {
    return {magic,
            version,
            identity.count,
            static_cast<std::uint64_t>(identity.type),
            identity.tree_hash,
            identity.rank,
            identity.layout,
            identity.elems};
}

std::size_t value_bytes(ElementType type) {
    return type == ElementType::f64 ? 8 : 4;
}

template <class T>
void scale_values(std::vector<std::byte>& bytes, double factor) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        T value;
        std::memcpy(&value, &bytes[at], sizeof value);
        value = static_cast<T>(static_cast<double>(value) * factor);
        if (!std::isfinite(value)) value = 0;  // NaN and Inf never enter
        std::memcpy(&bytes[at], &value, sizeof value);
    }
}

template <class T>
bool all_finite(const std::byte* bytes, std::size_t size_bytes) {
    for (std::size_t at = 0; at < size_bytes; at += sizeof(T)) {
        T value;
        std::memcpy(&value, bytes + at, sizeof value);
        if (!std::isfinite(value)) return false;
    }
    return true;
}

/// Residuals with one value for each element have this layout.
constexpr std::uint64_t by_element_layout = 0x746e656d656c65ULL;

/// Adds the values to `count` elements. `exact` is a codec whose encoding adds the residual and
/// loses nothing.
void add_values(const Codec& exact, std::byte* values, std::size_t count, std::byte* at) {
    const std::size_t elem_bytes = element_bytes(exact.type);
    alignas(64) std::byte sums[lossy_block_elems * sizeof(double)];
    for (std::size_t left = count; left > 0;) {
        const std::size_t now = std::min(left, lossy_block_elems);
        exact.encode_with_residual(at, values, now, sums);
        std::memcpy(at, sums, now * elem_bytes);
        at += now * elem_bytes;
        values += now * value_bytes(exact.type);
        left -= now;
    }
}

/// Adds the values in the order in which they were kept: by encode step, chunk after chunk.
void add_values(const Codec& exact, const Plan& plan, std::byte* values, std::byte* vector) {
    const std::size_t elem_bytes = element_bytes(exact.type);
    for (std::int64_t chunk = 0; chunk < plan.chunk_count; ++chunk) {
        const ChunkPlace place = place_of(plan, chunk);
        for (const Step& step : plan.schedule_of(chunk).steps)
            if (step.kind == StepKind::encode) {
                const auto first = static_cast<std::size_t>(place.in_vector(step.range.begin));
                const auto count = static_cast<std::size_t>(step.range.size());
                add_values(exact, values, count, vector + first * elem_bytes);
                values += count * value_bytes(exact.type);
            }
    }
}

Status bad(std::string message) {
    return {Code::invalid_argument, "checkpoint: " + std::move(message)};
}

}  // namespace

Residual::Residual(const ResidualIdentity& identity)
    : identity_(identity), values_(identity.elems * value_bytes(identity.type)) {}

Result<void*> Residual::data_for(const std::shared_ptr<DeviceSide>& side) {
    if (side != side_) {
        GRADCOLL_TRY(bring_home());
        if (side != nullptr) {
            const auto lock = side->lock();
            auto area =
                DeviceArea::make(side->device(), DeviceArea::Kind::on_device, values_.size());
            if (!area.ok()) return area.status();
            GRADCOLL_TRY(side->work().copy(area->data(), values_.data(), values_.size()));
            GRADCOLL_TRY(side->finish_work());
            values_dev_ = std::move(area).value();
            side_ = side;
        }
    }
    return side_ != nullptr ? static_cast<void*>(values_dev_.data()) : values_.data();
}

Status Residual::bring_home() {
    if (side_ == nullptr) return {};
    const std::shared_ptr<DeviceSide> side = side_;
    const auto lock = side->lock();
    GRADCOLL_TRY(side->work().copy(values_.data(), values_dev_.data(), values_.size()));
    GRADCOLL_TRY(side->finish_work());
    values_dev_ = DeviceArea();
    side_.reset();
    return {};
}

Status Residual::check_fits(const PlannedCall& call) const {
    return check_fits({.count = static_cast<std::uint64_t>(call.key().count),
                       .type = call.key().type,
                       .layout = call.residual_layout()});
}

Status Residual::check_fits(const ResidualIdentity& wanted) const {
    const auto differs = [](const char* what, auto mine, auto other) {
        return Status(
            Code::invalid_argument,
            fmt::format("residual: its {} is {}, but the call's is {}", what, mine, other));
    };
    if (identity_.count != wanted.count) return differs("count", identity_.count, wanted.count);
    if (identity_.type != wanted.type)
        return differs("element type", name_of(identity_.type), name_of(wanted.type));
    if (identity_.layout != wanted.layout)
        return differs("layout (of the tree and gc_chunk_bytes)", identity_.layout, wanted.layout);
    return {};
}

Status Residual::scale(double factor) {
    if (!std::isfinite(factor))
        return {Code::invalid_argument,
                fmt::format("factor is {}; allowed are finite numbers", factor)};
    GRADCOLL_TRY(bring_home());
    if (identity_.type == ElementType::f64)
        scale_values<double>(values_, factor);
    else
        scale_values<float>(values_, factor);
    return {};
}

void Residual::reset() {
    values_dev_ = DeviceArea();
    side_.reset();
    std::fill(values_.begin(), values_.end(), std::byte{0});
}

bool Residual::is_by_element() const {
    return identity_.layout == by_element_layout;
}

Result<std::shared_ptr<Residual>> Residual::by_element(const Plan& plan,
                                                       const ResidualIdentity& identity) {
    GRADCOLL_TRY(bring_home());
    auto made = std::make_shared<Residual>(identity);
    const ElementType of_values =
        value_bytes(identity.type) == 8 ? ElementType::f64 : ElementType::f32;
    const Codec exact = GRADCOLL_VALUE(codec_for(CodecId::exact, of_values));
    add_values(exact, plan, values_.data(), made->values_.data());
    return made;
}

Status Residual::hand_over(const Plan& plan, void* vector) {
    GRADCOLL_TRY(bring_home());
    const Codec exact = GRADCOLL_VALUE(codec_for(CodecId::exact, identity_.type));
    add_values(exact, plan, values_.data(), static_cast<std::byte*>(vector));
    reset();
    return {};
}

Status Residual::hand_over(void* vector) {
    GRADCOLL_TRY(bring_home());
    const Codec exact = GRADCOLL_VALUE(codec_for(CodecId::exact, identity_.type));
    add_values(exact, values_.data(), identity_.count, static_cast<std::byte*>(vector));
    reset();
    return {};
}

std::size_t Residual::checkpoint_bytes() const {
    return 8 * (word_total + 1) + values_.size();
}

Status Residual::save(std::byte* out) {
    GRADCOLL_TRY(bring_home());
    const std::byte* const begin = out;
    for (const std::uint64_t word : header_of(identity_)) {
        put_word(word, out);
        out += 8;
    }
    if (!values_.empty()) std::memcpy(out, values_.data(), values_.size());
    out += values_.size();
    put_word(Hash().bytes(begin, static_cast<std::size_t>(out - begin)).digest(), out);
    return {};
}

Status Residual::load(const std::byte* bytes, std::size_t size_bytes) {
    if (size_bytes < 8 * (word_total + 1))
        return bad(fmt::format("{} bytes are too few for a header; expected {}", size_bytes,
                               checkpoint_bytes()));
    const Header expected = header_of(identity_);
    for (std::size_t i = 0; i < word_total; ++i)
        if (const std::uint64_t got = get_word(bytes + 8 * i); got != expected[i])
            return bad(fmt::format("its {} is {}, but the residual's is {}", word_names[i], got,
                                   expected[i]));
    if (size_bytes != checkpoint_bytes())
        return bad(fmt::format("{} bytes; expected {}", size_bytes, checkpoint_bytes()));
    if (Hash().bytes(bytes, size_bytes - 8).digest() != get_word(bytes + size_bytes - 8))
        return bad("the checksum does not match: the bytes were damaged");
    const std::byte* const values = bytes + 8 * word_total;
    const bool finite = identity_.type == ElementType::f64
                            ? all_finite<double>(values, values_.size())
                            : all_finite<float>(values, values_.size());
    if (!finite) return bad("it holds values that are NaN or Inf");
    reset();
    values_.assign(values, values + values_.size());
    return {};
}

ResidualIdentity identity_by_element(std::int64_t count, ElementType type, const Tree& tree,
                                     int rank) {
    const auto elems = static_cast<std::uint64_t>(count);
    return {.count = elems,
            .type = type,
            .tree_hash = tree.hash(),
            .rank = static_cast<std::uint64_t>(rank),
            .layout = by_element_layout,
            .elems = (elems + lossy_block_elems - 1) / lossy_block_elems * lossy_block_elems};
}

ResidualIdentity identity_of(const PlannedCall& call, const Tree& tree, int rank) {
    return {.count = static_cast<std::uint64_t>(call.key().count),
            .type = call.key().type,
            .tree_hash = tree.hash(),
            .rank = static_cast<std::uint64_t>(rank),
            .layout = call.residual_layout(),
            .elems = static_cast<std::uint64_t>(call.plan().residual_elems())};
}

}  // namespace gradcoll
