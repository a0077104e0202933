// options.cpp - reads the command line, which follows osu_allreduce and nccl-tests.
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>

#include "command_line/option_parser.hpp"
#include "element.hpp"
#include "peer_op.hpp"
#include "peers/peer.hpp"
#include "sizes.hpp"

namespace gradcoll::bench {
namespace {

// Raw holds the options as typed, before the names are looked up.
struct Raw {
    std::string sizes = "4:4M";
    std::string element = "float";
    std::vector<std::string> settings;
    int iterations = 0;
    int warmup = 0;
    int batch = 0;
    std::string sync = "none";
};

std::string sync_help() {
    std::string text = "what ranks wait for before a call:";
    for (const std::string& name : sync_names()) {
        text += fmt::format(" {}: {};", name, meaning_of(*find_sync(name)));
    }
    text.pop_back();
    return text;
}

void declare_measurement(OptionParser& app, Options& options, Raw& raw) {
    app.add_option("-m,--message-size", raw.sizes,
                   "bytes, with K, M, G: min:max (doubling), max, or a list a,b,c")
        ->capture_default_str();
    app.add_option("-i,--iterations", raw.iterations,
                   "timed calls a repeat (default: 1000 to 8K, 100 to 256K, 20 to 4M, 5 above)")
        ->in_range(1, 1000000000);
    app.add_option("-x,--warmup", raw.warmup,
                   "calls before them that are not timed (default: a tenth)")
        ->in_range(0, 1000000000);
    app.add_option("--batch", raw.batch,
                   "calls of one side before the other's turn (default: a tenth of the iterations)")
        ->in_range(1, 1000000000);
    app.add_option("--repeats", options.repeats,
                   "times that all this is done, the order swapped each time; medians are printed")
        ->in_range(1, 1000000000)
        ->capture_default_str();
    app.add_option("--sync", raw.sync, sync_help())->one_of(sync_names())->capture_default_str();
    app.add_option("--peer", options.peer, "what is measured beside: " + peers_of_this_build())
        ->capture_default_str();
    app.add_option("--peer-error-bound", options.peer_error_bound,
                   "absolute error of one compression, for peers that compress (zccl)")
        ->positive()
        ->capture_default_str();
    app.add_option("-d,--device", options.device,
                   "where the vectors lie: host, cuda (each rank takes a device of its host, round "
                   "and round), or another device plug-in by its name and GC_DEVICE=PATH; the peer "
                   "then works on a copy in pinned host memory")
        ->capture_default_str();
    app.add_flag("-c,--check", options.check,
                 "compare results with an fp64 reference; exit status 1 if they are wrong");
    app.add_flag("-f,--full", options.full, "also print minimum, maximum and iterations");
    app.add_flag("--progress", options.progress,
                 "say how far it is even if stderr is no terminal, as under most launchers");
    app.add_option("--csv", options.csv_path, "append a row a size to this file");
    app.add_option("--json", options.json_path, "write everything to this file");
}

void declare_workload(OptionParser& app, Options& options, Raw& raw) {
    app.add_option("-T,--type", raw.element, "element type")
        ->one_of(element_names())
        ->capture_default_str();
    app.add_option("--op", options.op, "reduction")->one_of(op_names())->capture_default_str();
    app.add_option("--codec", options.codecs, "codecs, comma separated; a table each")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--tree", options.tree,
                   "tree, as GC_TOPOLOGY: flat, ((0 1) (2 3 4)), json:FILE, ...");
    app.add_option("--data", options.data, data_names())->capture_default_str();
    app.add_option("--seed", options.seed, "seed of the random data")->capture_default_str();
    app.add_option("--option", raw.settings,
                   "KEY=VALUE, a gc_* setting of the communicator; repeatable")
        ->allow_extra_args(false);
    app.add_flag("--in-place", options.in_place,
                 "MPI_IN_PLACE; the input is put back between calls, outside the timing");
    app.add_flag("--feedback", options.feedback, "error feedback through a residual");
    app.add_flag("--print-tree", options.print_tree,
                 "print the communicator's tree and measure nothing");
}

Problem resolve_settings(const Raw& raw, Options& options) {
    for (const std::string& setting : raw.settings) {
        auto parsed = parse_setting(setting);
        if (!parsed) return fmt::format("--option {}: must be KEY=VALUE", setting);
        options.settings.push_back(std::move(*parsed));
    }
    return std::nullopt;
}

Problem resolve_sizes(const Raw& raw, Options& options) {
    const std::size_t element_bytes = options.element->bytes;
    const auto sizes = parse_sizes(raw.sizes, element_bytes);
    if (!sizes) {
        return fmt::format(
            "--message-size {}: must be min:max with min <= max, max, or a list, in bytes with K, "
            "M or G",
            raw.sizes);
    }
    if (sizes->back() / element_bytes > INT_MAX) {
        return fmt::format("--message-size {}: MPI_Allreduce, the peer, takes at most {} elements",
                           raw.sizes, INT_MAX);
    }
    options.sizes_bytes = *sizes;
    return std::nullopt;
}

Problem problem_with_file(const std::string& data) {
    const std::string path = data_file(data);
    if (!path.empty() && !std::ifstream(path)) {
        return fmt::format("--data {}: the file cannot be opened", data);
    }
    return std::nullopt;
}

Problem problem_with_peer(const Options& options) {
    const PeerKind* kind = find_peer(options.peer);
    if (kind == nullptr) {
        return fmt::format("--peer {}: must be one of {}", options.peer, peers_of_this_build());
    }
    return kind->refusal(options.peer_workload());
}

// Returns what is wrong with the values as a whole, or nothing.
Problem resolve(const OptionParser& app, const Raw& raw, Options& options) {
    options.element = find_element(raw.element);
    if (app.count("--iterations") > 0) {
        options.iterations = raw.iterations;
    }
    if (app.count("--warmup") > 0) {
        options.warmup = raw.warmup;
    }
    if (app.count("--batch") > 0) {
        options.batch = raw.batch;
    }
    options.sync = *find_sync(raw.sync);
    if (!is_data_name(options.data)) {
        return fmt::format("--data {}: must be one of {}", options.data, data_names());
    }
    if (const auto problem = problem_with_file(options.data)) {
        return problem;
    }
    if (options.feedback && (options.op != "sum" || options.element->unit_roundoff == 0)) {
        return fmt::format("--feedback: needs --op sum and a floating-point type, not {} of {}",
                           options.op, raw.element);
    }
    if (const auto problem = resolve_settings(raw, options)) {
        return problem;
    }
    if (const auto problem = resolve_sizes(raw, options)) {
        return problem;
    }
    return problem_with_peer(options);
}

}  // namespace

PeerWorkload Options::peer_workload() const {
    return {element, op, in_place, sizes_bytes.front(), peer_error_bound};
}

int Options::iterations_for(std::size_t size_bytes) const {
    struct Step {
        std::size_t up_to_bytes;
        int iterations;
    };
    constexpr std::array steps = {Step{std::size_t{8} << 10, 1000},
                                  Step{std::size_t{256} << 10, 100},
                                  Step{std::size_t{4} << 20, 20}};
    constexpr int above = 5;
    const auto step = std::find_if(steps.begin(), steps.end(), [size_bytes](const Step& one) {
        return size_bytes <= one.up_to_bytes;
    });
    return iterations.value_or(step == steps.end() ? above : step->iterations);
}

int Options::warmup_for(std::size_t size_bytes) const {
    return warmup.value_or(std::max(iterations_for(size_bytes) / 10, 1));
}

int Options::batch_for(std::size_t size_bytes) const {
    return batch.value_or(std::max(iterations_for(size_bytes) / 10, 1));
}

double Options::work_of(std::size_t size_bytes) const {
    constexpr double bytes_of_a_call = 32 << 10;
    return (iterations_for(size_bytes) + warmup_for(size_bytes)) *
           (bytes_of_a_call + static_cast<double>(size_bytes));
}

CommandLine parse_command_line(int argc, const char* const* argv) {
    OptionParser app("GC_Allreduce beside MPI_Allreduce or another peer, in turns in one process",
                     "gc_bench allreduce");
    CommandLine line;
    Raw raw;
    declare_measurement(app, line.options, raw);
    declare_workload(app, line.options, raw);
    app.parse_into(line, argc, argv, [&] { return resolve(app, raw, line.options); });
    return line;
}

}  // namespace gradcoll::bench
