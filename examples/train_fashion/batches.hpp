// train_fashion/batches.hpp - which pictures make up which step, and this rank's part of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "idx.hpp"

namespace train {

/// Pictures ready for the network: count x features inputs, count labels.
struct Batch {
    std::size_t count = 0;
    std::vector<float> inputs;
    std::vector<std::uint8_t> labels;
};

/// First and one-past-last of `total` things for `part` of `parts`; sizes differ by one at most.
struct Share {
    std::size_t begin;
    std::size_t end;
};
Share share_of(std::size_t total, std::size_t part, std::size_t parts);

/// Pictures [begin, end) of `data`, in the order of `order` if it is not empty. Inputs are pixels
/// with the training set's mean taken away, divided by its deviation (0.2860 and 0.3530 of the full
/// range).
void load_batch(const Dataset& data, const std::vector<std::uint32_t>& order, Share share,
                Batch& batch);

/// Order of the pictures in `epoch`: a shuffle that depends on the seed and epoch only, so every
/// rank, and every number of ranks, trains on the same global batches.
std::vector<std::uint32_t> shuffled_order(std::size_t count, std::uint64_t seed, std::size_t epoch);

}  // namespace train
