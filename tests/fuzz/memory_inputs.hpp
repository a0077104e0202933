// fuzz/memory_inputs.hpp - makes what is written where a rank reads that shares memory with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fuzz/mutator.hpp"

namespace gradcoll::fuzz {

struct Outcome {
    std::uint64_t inputs = 0, borne = 0;  ///< borne: no fault was found
};

/// Returns a small number, or one at a limit.
std::uint64_t number(Random& random);

/// Overwrites a few bytes here and there.
void scribble(std::byte* bytes, std::size_t size, Random& random);

/// A ReferenceInput is a peer that sends references to memory of its device (device/ipc),
/// some of them damaged, and gives memory back in between.
class ReferenceInput {
  public:
    ReferenceInput();
    ~ReferenceInput();
    void run(Random& random, Outcome& outcome);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll::fuzz
