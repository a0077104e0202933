// report.cpp - writes one line for each measurement.
#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace gradcoll::bench {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

void print_line(const auto&... cells) {
    fmt::print("{:<6} {:<5} {:<15} {:<8} {:>9} {:<8} {:>9} {:>8} {:>8} {:>6} {:>6} {:>6}\n",
               cells...);
    std::fflush(stdout);
}

std::string number(double value, int digits) {
    return fmt::format("{:.{}f}", value, digits);
}

}  // namespace

std::string_view name_of(Residency residency) {
    return residency == Residency::cold ? "cold" : "L2";
}

void print_head(const GpuFacts& facts, int repeats) {
    fmt::print("# {}, compute capability {}.{}, L2 {:.0f} MiB; CUDA runtime {}, driver {}\n",
               facts.device, facts.major, facts.minor,
               static_cast<double>(facts.l2_bytes) / mebibyte, version_text(facts.runtime),
               version_text(facts.driver));
    fmt::print(
        "# GB/s: 10^9 bytes read and written a second; copy: device to device, as many bytes, in "
        "turns\n");
    fmt::print("# with the kernel, order swapped every repeat, medians of {} repeats\n", repeats);
    fmt::print("# ratio: kernel / copy, 1 is the copy's speed; q1, q3: its quartiles\n");
    fmt::print(
        "# cold: buffers rotate, nothing is in the L2; L2: the same buffers again, which fit\n");
    fmt::print("# all bytes were compared with the CPU's first\n");
    print_line("codec", "type", "work", "form", "size_MiB", "where", "moved_MiB", "GB/s", "copy",
               "ratio", "q1", "q3");
}

void print_row(const GpuRow& row) {
    print_line(gradcoll::name_of(row.kind.codec), gradcoll::name_of(row.kind.type),
               name_of(row.work), row.form,
               number(static_cast<double>(row.size_bytes) / mebibyte, 2), name_of(row.residency),
               number(static_cast<double>(row.moved.total()) / mebibyte, 2),
               number(row.kernel_gb_s, 0), number(row.copy_gb_s, 0), number(row.ratio.median, 3),
               number(row.ratio.lower_quartile, 3), number(row.ratio.upper_quartile, 3));
}

Columns columns_of(const GpuFacts& facts, const GpuRow& row) {
    const auto integer = [](std::size_t value) { return static_cast<std::int64_t>(value); };
    return {{"device", facts.device},
            {"codec", std::string(gradcoll::name_of(row.kind.codec))},
            {"type", std::string(gradcoll::name_of(row.kind.type))},
            {"work", std::string(name_of(row.work))},
            {"form", row.form},
            {"size_bytes", integer(row.size_bytes)},
            {"where", std::string(name_of(row.residency))},
            {"read_bytes", integer(row.moved.read)},
            {"written_bytes", integer(row.moved.written)},
            {"kernel_gb_s", row.kernel_gb_s},
            {"copy_gb_s", row.copy_gb_s},
            {"ratio", row.ratio.median},
            {"ratio_min", row.ratio.min},
            {"ratio_q1", row.ratio.lower_quartile},
            {"ratio_q3", row.ratio.upper_quartile},
            {"ratio_max", row.ratio.max}};
}

}  // namespace gradcoll::bench
