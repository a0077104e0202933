// tune/packings.cpp - measures how fast one core packs and unpacks messages.
#include <cmath>
#include <random>
#include <vector>

#include "compress/codec.hpp"
#include "compress/lossless/packer.hpp"
#include "measures.hpp"

namespace gradcoll::tune {
namespace {

/// Returns a message as it goes over links: 64 Ki values in int8. The values are like those of
/// gradients, mostly small, with some neighbouring zeros, so that a packer finds something: on
/// random bytes it gives up, and is many times faster.
Result<std::vector<std::byte>> usual_payload() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(std::size_t{1} << 16U);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i / 64 % 16 == 0 ? 0 : normal(random) * std::abs(normal(random));
    const Codec codec = GRADCOLL_VALUE(codec_for(CodecId::int8, ElementType::f32));
    std::vector<std::byte> payload(bound_bytes(codec.id, sizeof(float), values.size()));
    payload.resize(codec.encode(values.data(), values.size(), payload.data()));
    return payload;
}

}  // namespace

Status measure_packings(const Options& options, const Group& group, Tuning& tuning) {
    const std::vector<std::byte> plain = GRADCOLL_VALUE(usual_payload());
    std::vector<std::byte> packed(plain.size()), unpacked(plain.size());
    for (std::size_t number = 1; number < packing_count; ++number) {
        const auto packer = GRADCOLL_VALUE(make_packer(static_cast<Packing>(number)));
        const std::size_t size = packer->pack(plain, packed);
        if (size == 0)
            return {Code::internal, "a packing finds nothing in values as gradients have them"};
        double us[] = {0, 0};
        group.run([&] {
            us[0] = median_us(group.comm(), options.seconds_a_point(),
                              [&] { packer->pack(plain, packed); });
            us[1] = median_us(group.comm(), options.seconds_a_point(), [&] {
                packer->unpack({packed.data(), size}, unpacked);
            });
        });
        PMPI_Bcast(us, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // rank 0 is a member
        const auto bytes = static_cast<double>(plain.size());
        tuning.packings[number] = {gbytes_per_s(bytes, us[0]), gbytes_per_s(bytes, us[1])};
    }
    return {};
}

}  // namespace gradcoll::tune
