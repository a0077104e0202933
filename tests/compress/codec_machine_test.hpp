// tests/compress/codec_machine_test.hpp - a test of one codec on the codec_machine() of the
// program, beside the scalar reference of the CPU.
#pragma once

#include <gtest/gtest.h>

#include "compress/codec_cases.hpp"
#include "compress/codec_machine.hpp"

namespace gradcoll::test {

class CodecMachineTest : public testing::TestWithParam<CodecCase> {
  protected:
    void SetUp() override {
        machine_ = codec_machine();
        if (machine_ == nullptr) GTEST_SKIP() << "no CUDA device";
        codec_ = *codec_for(GetParam().codec, GetParam().type, InstructionSet::scalar);
        residual_type_ = codec_.type == ElementType::f64 ? ElementType::f64 : ElementType::f32;
    }

    std::size_t elem() const { return element_bytes(codec_.type); }
    TestArray array(const Bytes& content, TestArray::Use use, std::size_t shift = 0) const {
        return {machine_->memory(), content, use, shift};
    }
    /// Launches one job, and returns whether the payload was called invalid.
    bool launch(CodecWork work, CodecForm form, const CodecJob& job) const {
        const TestArray invalid = array(Bytes(4), TestArray::Use::written);
        const CodecLaunch call{work,
                               plain(codec_.id),
                               codec_.type,
                               nullptr,
                               reinterpret_cast<std::uint32_t*>(invalid.data()),
                               codec_.parameters};
        const Status status = machine_->launch(form, call, {&job, 1});
        EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(invalid.canaries_intact());
        return invalid.content() != Bytes(4);
    }

    CodecMachine* machine_ = nullptr;
    Codec codec_;
    ElementType residual_type_{};
};

}  // namespace gradcoll::test
