// tests/compress/codec_machine.hpp - what runs the kernels of GPU codecs in a test program:
// emulated warps (emulated_codecs.cpp) or a device (cuda_codecs.cpp).
#pragma once

#include <span>

#include "compress/codec_launch.hpp"
#include "support/test_memory.hpp"

namespace gradcoll::test {

class CodecMachine {
  public:
    virtual ~CodecMachine() = default;
    /// These launch their jobs and wait for their end.
    virtual Status launch(CodecForm form, const CodecLaunch& launch,
                          std::span<const CodecJob> jobs) = 0;
    virtual Status move(std::span<const BlockMove> moves) = 0;
    virtual TestMemory& memory() = 0;
};

/// Returns the machine of this program, or null if there is none: then all its tests are skipped.
CodecMachine* codec_machine();

}  // namespace gradcoll::test
