// tests/compress/bound_cases.hpp - what the tests of codecs with a bound on the error share: an
// exact look at an error, and values that are hard for it.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "compress/codec_cases.hpp"

namespace gradcoll::test {

/// Returns how much work the tests do: 1, or what GC_TEST_BOUND_FACTOR says.
std::size_t bound_factor();

/// Returns all instruction sets of this CPU, told the tolerance; scalar first.
std::vector<Codec> bound_codecs(ElementType type, double abs);

/// An ExactLook finds out whether |x - sent| <= abs in real numbers, or x is not finite and comes
/// back bit by bit, as all do that may lose nothing.
class ExactLook {
  public:
    ExactLook(ElementType type, double abs);
    bool allows(std::uint64_t x, std::uint64_t sent) const;
    /// Does the same for a value that need not be one of the type.
    bool allows_value(double x, double sent) const;
    double value(std::uint64_t bits) const;

  private:
    ElementType type_;
    double abs_;
};

/// Encodes `plain` with a residual, decodes, and looks at every element: where the sum is a number,
/// it came back as the nearest element or as allows(sum, sent) says, and the residual is what was
/// not sent; else the residual is 0.
void expect_sums_kept(const Codec& codec, const Bytes& plain, const Bytes& residual,
                      const std::function<bool(double wanted, double sent)>& allows);

/// A BoundShape has values by name: draws of a generator made into the value at place i.
struct BoundShape {
    const char* name;
    std::uint64_t (*element)(ElementType type, std::mt19937_64& draw, std::size_t i);
};
std::vector<BoundShape> bound_shapes();
Bytes elements_of(const BoundShape& shape, ElementType type, std::size_t count,
                  std::mt19937_64& draw);

inline constexpr ElementType float_types[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                              ElementType::f64};
std::string type_name(const testing::TestParamInfo<ElementType>& info);

}  // namespace gradcoll::test
