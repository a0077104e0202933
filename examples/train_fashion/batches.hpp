// train_fashion/batches.hpp - which pictures make up which step, and this rank's part of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "idx.hpp"

namespace train {

/// A Batch is pictures ready for the network: count x features inputs, count labels.
struct Batch {
    std::size_t count = 0;
    std::vector<float> inputs;
    std::vector<std::uint8_t> labels;
};

/// A Share is the range [begin, end) of `total` things for `part` of `parts`; sizes differ by one
/// at most.
struct Share {
    std::size_t begin;
    std::size_t end;
};
Share share_of(std::size_t total, std::size_t part, std::size_t parts);

/// Loads pictures [begin, end) of `data`, in the order of `order` if it is not empty. Inputs are
/// pixels minus the training set's mean, divided by its deviation (0.2860 and 0.3530 of the full
/// range).
void load_batch(const Dataset& data, const std::vector<std::uint32_t>& order, Share share,
                Batch& batch);

/// Returns the order of the pictures in `epoch`: a shuffle that depends only on seed and epoch, so
/// that every rank, and every number of ranks, trains on the same global batches.
std::vector<std::uint32_t> shuffled_order(std::size_t count, std::uint64_t seed, std::size_t epoch);

}  // namespace train
