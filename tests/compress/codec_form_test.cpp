// The forms of the codecs.
#include "compress/codec_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradcoll {
namespace {

CodecId codec(const char* name) {
    return codec_from_name(name).value();
}

std::string form_of_name(const char* name) {
    return all_codec_forms()[form_index_of(codec(name))].name;
}

TEST(CodecForm, FollowsFromTheParametersThatChangeKernels) {
    EXPECT_EQ(form_of_name("int8"), "int8");
    EXPECT_EQ(form_of_name("int8+zstd"), "int8");
    EXPECT_EQ(form_of_name("int8/abs=0.5"), "int8/abs");
    EXPECT_EQ(form_of_name("int8/abs=call"), "int8/abs");
    EXPECT_EQ(form_of_name("int4/rel=0.5+lz4"), "int4/rel");
    EXPECT_EQ(form_of_name("int16/seed=3"), "int16/seed");
    EXPECT_EQ(form_of_name("bound"), "bound");
    EXPECT_EQ(form_of_name("bound/abs=0.5"), "bound");
    EXPECT_EQ(form_of_name("2:4+int8"), "2:4+int8");
}

TEST(CodecForm, OfEveryCodecIsThereOnceAndUnderItsOwnPlace) {
    for (const CodecId one : all_codecs())
        EXPECT_EQ(form_of_name(name_of(one).data()), name_of(one));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all_codec_forms().size(); ++i) {
        EXPECT_EQ(form_index_of(codec_of(all_codec_forms()[i]).value()), i);
        names.push_back(all_codec_forms()[i].name);
    }
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(CodecForm, HasRatesOfItsOwn) {
    for (const NamedForm& form : all_codec_forms())
        EXPECT_EQ(&rates_of(form), &rates_of(codec_of(form).value())) << form.name;
    EXPECT_NE(rates_of(codec("int8/rel=0.1")).encode, rates_of(codec("int8/abs=0.1")).encode);
    EXPECT_NE(rates_of(codec("int8/seed=1")).encode, rates_of(codec("int8")).encode);
}

}  // namespace
}  // namespace gradcoll
