// osu-bench/kernels/main.cpp - compares codec kernels with memcpy.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "command_line/option_parser.hpp"
#include "kernel_runs.hpp"

namespace gradcoll::bench {
namespace {

constexpr ElementType types[] = {ElementType::f32, ElementType::f16, ElementType::bf16,
                                 ElementType::f64};
constexpr std::size_t sizes[] = {256u << 10, 4u << 20, 64u << 20};

struct Case {
    Codec codec;
    InstructionSet isa;
    std::size_t bytes;
};

/// A Selection limits --table; empty or 0: no limit.
struct Selection {
    std::string codec, type, isa;
    std::size_t bytes = 0;
    std::size_t call_elems = 0;
    int repetitions = 9;

    std::vector<CodecId> codecs() const {
        if (!codec.empty()) return {*codec_from_name(codec)};
        std::vector<CodecId> all(all_codecs().begin(), all_codecs().end());
        std::erase_if(all, gradcoll::waits_for_tolerance);  // without a tolerance they would only
                                                            // copy
        return all;
    }
    bool takes(ElementType type_id, InstructionSet isa_id, std::size_t size) const {
        return (type.empty() || type == gradcoll::name_of(type_id)) &&
               (isa.empty() || isa == name_of(isa_id)) && (bytes == 0 || bytes == size);
    }
};

std::vector<Case> cases(const Selection& selection) {
    std::vector<Case> out;
    for (const CodecId codec_id : selection.codecs())
        for (const ElementType type : types)
            for (const InstructionSet isa : all_instruction_sets)
                for (const std::size_t size : sizes) {
                    if (!selection.takes(type, isa, size)) continue;
                    const Result<Codec> codec = codec_for(codec_id, type, isa);
                    if (codec.ok()) out.push_back({*codec, isa, size});
                }
    return out;
}

std::string size_text(std::size_t bytes) {
    return bytes >= 1u << 20 ? fmt::format("{} MiB", bytes >> 20)
                             : fmt::format("{} KiB", bytes >> 10);
}

void print_table(const Selection& selection) {
    fmt::print(
        "GB/s of plain elements, one core; in brackets: ratio to memcpy, which ran by turns with "
        "the kernel\n\n");
    fmt::print(
        "| codec | type | isa | size | encode | encode+residual | decode | decode+sum | memcpy "
        "|\n");
    fmt::print("|---|---|---|---|---|---|---|---|---|\n");
    for (const Case& c : cases(selection)) {
        fmt::print("| {} | {} | {} | {} |", gradcoll::name_of(c.codec.id),
                   gradcoll::name_of(c.codec.type), name_of(c.isa), size_text(c.bytes));
        double memcpy_gb_s = 0;
        for (const Kernel kernel : all_kernels) {
            const Rates rates =
                measure(c.codec, kernel, c.bytes, selection.repetitions, selection.call_elems);
            fmt::print(" {:.1f} ({:.2f}x) |", rates.kernel_gb_s, rates.ratio());
            memcpy_gb_s = rates.memcpy_gb_s;
        }
        fmt::print(" {:.1f} |\n", memcpy_gb_s);
        std::fflush(stdout);
    }
}

void register_all() {
    for (const Case& c : cases({}))
        for (const Kernel kernel : all_kernels) {
            const std::string name =
                fmt::format("{}/{}/{}/{}/{}", name_of(kernel), gradcoll::name_of(c.codec.id),
                            gradcoll::name_of(c.codec.type), name_of(c.isa), c.bytes);
            benchmark::RegisterBenchmark(name.c_str(),
                                         [c, kernel](benchmark::State& state) {
                                             Rates rates;
                                             for (auto _ : state) {
                                                 rates = measure(c.codec, kernel, c.bytes, 9, 0);
                                                 state.SetIterationTime(rates.kernel_s);
                                             }
                                             state.counters["GB/s"] = rates.kernel_gb_s;
                                             state.counters["memcpy_GB/s"] = rates.memcpy_gb_s;
                                             state.counters["x_memcpy"] = rates.ratio();
                                         })
                ->UseManualTime()
                ->Iterations(1);
        }
}

}  // namespace
}  // namespace gradcoll::bench

namespace {

int body(int argc, char** argv) {
    using namespace gradcoll::bench;
    benchmark::Initialize(&argc, argv);
    gradcoll::OptionParser app{"Codec kernels against memcpy", "gc_bench kernels"};
    Selection selection;
    bool table = false;
    app.add_flag("--table", table, "print a Markdown table");
    app.add_option("--codec", selection.codec, "only this codec in the table, as bound/abs=1e-3")
        ->check([](const std::string& text) {
            const auto codec = gradcoll::codec_from_name(text);
            const auto told = codec.ok() ? gradcoll::check_told(*codec) : codec.status();
            return told.ok() ? std::string() : told.message();
        });
    app.add_option("--type", selection.type, "only this element type in the table");
    app.add_option("--isa", selection.isa, "only this instruction set in the table");
    app.add_option("--size", selection.bytes,
                   "only this size in bytes: 262144, 4194304 or 67108864");
    app.add_option("--call", selection.call_elems,
                   "elements a call, 0: all; a runtime calls codecs of variable rate with 512");
    app.add_option("--repetitions", selection.repetitions, "turns of kernel and memcpy")
        ->in_range(1, 1000);
    if (const auto status = app.exit_status(argc, argv)) return *status;
    if (table) {
        print_table(selection);
    } else {
        register_all();
        benchmark::RunSpecifiedBenchmarks();
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return gradcoll::guarded("gc_bench kernels", body, argc, argv);
}
