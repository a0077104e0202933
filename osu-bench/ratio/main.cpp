// osu-bench/ratio/main.cpp - measures how few bits a value needs at an equal largest error, and
// how fast: for the codec `bound`, the same packed once more by zstd, and zfp. One core, fp32.
//
//   gc_bench ratio --data normal,t3,file:GRADIENTS --range 1e-2,1e-3,1e-4
//   gc_bench ratio --packing int8,2:4+int8,bound      what zstd and lz4 take off the messages of
//   these
//
// A tolerance is given as a part of the data's range. A cautious packer (zfp keeps errors well
// below its tolerance) is given twice as much as long as its largest error stays within the
// tolerance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "command_line/option_parser.hpp"
#include "element.hpp"
#include "packers.hpp"
#include "packing_table.hpp"
#include "reduce/extent.hpp"

namespace gradcoll::bench {
namespace {

struct Selection {
    std::vector<std::string> data = {"gradient", "normal", "t3"};
    std::vector<double> ranges = {1e-2, 1e-3, 1e-4};
    std::size_t count = std::size_t{1} << 22;
    int repetitions = 5;
    std::vector<std::string> packed_codecs;  ///< codecs whose messages are packed, if any
};

struct Result {
    double bits = 0;  ///< bits of a value
    double largest_error = 0;
    double pack_gb_s = 0;  ///< in plain values
    double unpack_gb_s = 0;
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
    return largest;
}

template <class Work>
double gb_s(const Selection& selection, Work work) {
    return static_cast<double>(selection.count * sizeof(float)) /
           fastest_seconds(selection.repetitions, work) * 1e-9;
}

double error_of(Packer& packer, const std::vector<float>& values, double told) {
    std::vector<float> back;
    packer.pack(values, told);
    packer.unpack(back);
    return largest_difference(values, back);
}

Result measure(const Selection& selection, Packer& packer, const std::vector<float>& values,
               double abs) {
    double told = abs;
    while (packer.is_cautious() && error_of(packer, values, 2 * told) <= abs) told *= 2;
    Result result;
    result.largest_error = error_of(packer, values, told);
    result.bits = 8.0 * static_cast<double>(packer.pack(values, told).size()) /
                  static_cast<double>(values.size());
    std::vector<float> back;
    result.pack_gb_s = gb_s(selection, [&] { packer.pack(values, told); });
    result.unpack_gb_s = gb_s(selection, [&] { packer.unpack(back); });
    return result;
}

std::vector<std::unique_ptr<Packer>> all_packers() {
    std::vector<std::unique_ptr<Packer>> packers;
    for (auto* make : {bound_packer, bound_and_zstd_packer, zfp_packer})
        if (auto packer = make()) packers.push_back(std::move(packer));
    return packers;
}

void print_table(const Selection& selection) {
    fmt::print(
        "| data | tolerance / range | packer | bits a value | ratio | largest error / "
        "tolerance | pack, GB/s | unpack, GB/s |\n|---|---|---|---|---|---|---|---|\n");
    for (const std::string& data : selection.data) {
        const std::vector<float> values = values_of(data, selection.count);
        const Extent extent = extent_of(ElementType::f32, values.data(), values.size());
        for (const double part : selection.ranges)
            for (const auto& packer : all_packers()) {
                const double abs = part * extent.range();
                const Result result = measure(selection, *packer, values, abs);
                fmt::print("| {} | {:g} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n",
                           data, part, packer->name(), result.bits, 32 / result.bits,
                           result.largest_error / abs, result.pack_gb_s, result.unpack_gb_s);
                std::fflush(stdout);
            }
    }
}

void print(const Selection& selection) {
    if (selection.packed_codecs.empty()) return print_table(selection);
    PackingSelection packing;
    packing.data = selection.data;
    packing.codecs = selection.packed_codecs;
    packing.ranges = selection.ranges;
    packing.count = selection.count;
    packing.repetitions = selection.repetitions;
    print_packing_table(packing);
}

}  // namespace
}  // namespace gradcoll::bench

namespace {

int body(int argc, char** argv) {
    using namespace gradcoll::bench;
    gradcoll::OptionParser app{"Bits a value at an equal largest error", "gc_bench ratio"};
    Selection selection;
    app.add_option("--data", selection.data, data_names())->delimiter(',');
    app.add_option("--range", selection.ranges, "tolerances, as parts of the data's range")
        ->delimiter(',')
        ->positive();
    app.add_option("--count", selection.count, "values")->positive();
    app.add_option("--repetitions", selection.repetitions, "the fastest counts")->positive();
    app.add_option(
           "--packing", selection.packed_codecs,
           "of these codecs instead: what zstd, lz4 and two streams take off messages of 65536 "
           "values")
        ->delimiter(',');
    const auto status = app.exit_status(argc, argv, [&]() -> gradcoll::Problem {
        for (const std::string& data : selection.data)
            if (!is_data_name(data))
                return fmt::format("--data {}: must be one of {}", data, data_names());
        return std::nullopt;
    });
    if (status) return *status;
    print(selection);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return gradcoll::guarded("gc_bench ratio", body, argc, argv);
}
