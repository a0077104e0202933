// train_fashion/batches.cpp - shuffles pictures, and turns pixels into inputs.
#include "batches.hpp"

#include <array>
#include <numeric>
#include <utility>

#include "random.hpp"

namespace train {
namespace {

std::array<float, 256> make_input_of_pixel() {
    std::array<float, 256> table{};
    for (std::size_t pixel = 0; pixel < table.size(); ++pixel)
        table[pixel] = (static_cast<float>(pixel) / 255.0F - 0.2860F) / 0.3530F;
    return table;
}

}  // namespace

Share share_of(std::size_t total, std::size_t part, std::size_t parts) {
    return {total * part / parts, total * (part + 1) / parts};
}

void load_batch(const Dataset& data, const std::vector<std::uint32_t>& order, Share share,
                Batch& batch) {
    static const std::array<float, 256> input_of_pixel = make_input_of_pixel();
    batch.count = share.end - share.begin;
    batch.inputs.resize(batch.count * data.features);
    batch.labels.resize(batch.count);
    for (std::size_t i = 0; i < batch.count; ++i) {
        const std::size_t picture = order.empty() ? share.begin + i : order[share.begin + i];
        const std::uint8_t* pixels = data.pixels.data() + picture * data.features;
        float* inputs = batch.inputs.data() + i * data.features;
        for (std::size_t f = 0; f < data.features; ++f) inputs[f] = input_of_pixel[pixels[f]];
        batch.labels[i] = data.labels[picture];
    }
}

std::vector<std::uint32_t> shuffled_order(std::size_t count, std::uint64_t seed,
                                          std::size_t epoch) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    Random random(Random(seed + 1).next() + epoch);
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

}  // namespace train
