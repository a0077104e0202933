// gc_bench gpu - compares codec kernels on a GPU with a copy of as many bytes. Exit status: 0; 1 if
// a byte differs from the CPU's or the device fails; 2 for bad options; 77 if there is no CUDA
// device.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "contest.hpp"
#include "gpu.hpp"
#include "options.hpp"
#include "report.hpp"

namespace gradcoll::bench {
namespace {

constexpr int no_device_status = 77;

class Reporter {
  public:
    Reporter(const GpuOptions& options, const GpuFacts& facts)
        : options_(options), facts_(facts), csv_(options.csv_path) {}
    void add(const GpuRow& row) {
        print_row(row);
        if (!options_.csv_path.empty()) {
            csv_.write(columns_of(facts_, row));
        }
    }
    /// Reports a wrong kernel, which is not timed; the others go on.
    void refuse(const std::string& wrong) {
        fmt::print(stderr, "gc_bench gpu: WRONG: {}\n", wrong);
        failed_ = true;
    }
    bool failed() const { return failed_; }

  private:
    const GpuOptions& options_;
    const GpuFacts& facts_;
    CsvWriter csv_;
    bool failed_ = false;
};

void measure_form(Contest& contest, const Form& form, Reporter& reporter) {
    if (const std::string wrong = contest.wrong_with(form); !wrong.empty()) {
        reporter.refuse(wrong);
        return;
    }
    for (const Residency residency : contest.residencies()) {
        reporter.add(contest.measure(form, residency));
    }
}

void measure_kind(const GpuOptions& options, const GpuFacts& facts, const Kind& kind,
                  Reporter& reporter) {
    for (const std::size_t size_bytes : options.sizes_bytes) {
        for (const CodecWork work : options.works) {
            Contest contest(options, facts, kind, work, size_bytes);
            for (const Form& form : forms_of(kind)) {
                measure_form(contest, form, reporter);
            }
        }
    }
}

int measure_all(const GpuOptions& options) {
    const GpuFacts facts = facts_of(options.device);
    print_head(facts, options.repeats);
    Reporter reporter(options, facts);
    for (const Kind& kind : options.kinds) {
        measure_kind(options, facts, kind, reporter);
    }
    return reporter.failed() ? 1 : 0;
}

int run(const GpuOptions& options) {
    if (const std::string why = no_device(options.device); !why.empty()) {
        fmt::print(stderr, "gc_bench gpu: no CUDA device: {}\n", why);
        return no_device_status;
    }
    try {
        return measure_all(options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "gc_bench gpu: {}\n", error.what());
        return 1;
    }
}

}  // namespace
}  // namespace gradcoll::bench

int main(int argc, char** argv) {
    using namespace gradcoll::bench;
    const GpuCommandLine line = parse_gpu_command_line(argc, argv);
    if (line.run) return run(line.options);
    print(line);
    return line.exit_status;
}
