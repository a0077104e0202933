// gradcoll simulate - simulates how long our allreduce and SimGrid's own take on a machine. It
// writes one CSV row for each algorithm and size. Exit status: 0; 1 if a plan or a result is wrong;
// 2 for bad options.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "agreement.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/predict/model.hpp"
#include "collectives/verify/verify.hpp"
#include "options.hpp"
#include "replay.hpp"
#include "rivals.hpp"
#include "simulation.hpp"
#include "tools/progress/progress.hpp"

namespace gradcoll::simulate {
namespace {

/// A TemporaryFile is a platform file that is removed when the program ends.
class TemporaryFile {
  public:
    explicit TemporaryFile(const std::string& text) {
        const int file = mkstemps(path_, 4);
        if (file < 0) throw std::runtime_error("no temporary file can be made");
        close(file);
        std::ofstream(path_) << text;
    }
    ~TemporaryFile() { std::remove(path_); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const char* path() const { return path_; }

  private:
    char path_[32] = "/tmp/gc_simulate_XXXXXX.xml";
};

/// A Case is one row of the result.
struct Case {
    std::string algorithm;
    std::int64_t size_bytes = 0;
    PlanSpec spec;  ///< for ours and the executor
    double predicted_us = 0;
    double link_us = 0;  ///< time of the busiest link for the plan's bytes; ours only
    std::vector<std::string> wrong;
    std::vector<std::uint64_t> digests;  ///< by rank; the executor's only
    std::unique_ptr<Agreement>
        agreement;  ///< for ranks of an engine; `size_bytes` is then what they send
};

Plan plan_of(const Tree& tree, const PlanSpec& spec, int rank) {
    Result<Plan> plan = make_plan(tree, spec, rank);
    if (!plan.ok()) throw std::runtime_error(plan.status().message());
    return std::move(*plan);
}

/// Returns the time that no schedule with these bytes can beat.
double busiest_link_us(const Tree& tree, const std::vector<LinkBytes>& bytes, bool print) {
    double busiest = 0;
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex) {
        const LinkBytes& link = bytes[static_cast<std::size_t>(vertex)];
        const double speed = uplink_figures(tree, shipped_tuning(), vertex).gbytes_per_s * 1e3;
        const double us = static_cast<double>(std::max(link.up, link.down)) / speed;
        busiest = std::max(busiest, us);
        if (print && !tree.is_leaf(vertex))
            fmt::print(stderr, "link of vertex {} ({} ranks): up {} B, down {} B: {:.1f} us\n",
                       vertex, tree.vertex(vertex).leaf_count, link.up, link.down, us);
    }
    return busiest;
}

/// Makes every rank's plan at once, to compute what concerns all of them together.
void look_at_all_plans(const Options& options, Case& row) {
    std::vector<Plan> plans;
    for (int rank = 0; rank < options.tree->rank_count(); ++rank)
        plans.push_back(plan_of(*options.tree, row.spec, rank));
    row.link_us =
        busiest_link_us(*options.tree, bytes_on_uplinks(*options.tree, plans), options.explain);
    if (!options.verify) return;
    const Status status = verify(*options.tree, plans);
    if (!status.ok()) row.wrong.push_back(status.message());
}

Case case_of(const Options& options, const std::string& algorithm, std::int64_t size_bytes) {
    Case row;
    row.algorithm = algorithm;
    row.size_bytes = size_bytes;
    const auto& agreements = agreement_names();
    if (std::find(agreements.begin(), agreements.end(), algorithm) != agreements.end())
        row.agreement = std::make_unique<Agreement>(*options.tree, algorithm);
    if (algorithm != "ours" && algorithm != "executor") return row;
    PlanSpec call;
    call.count_elems = size_bytes / call.elem_bytes;
    const Decision decision = decide(*options.tree, call, options.policy);
    row.spec = decision.spec;
    row.predicted_us = decision.predicted_us;
    if (options.explain)
        fmt::print(stderr, "{}", text_of(*options.tree, decision, *options.policy.tuning));
    if (options.verify || options.explain) look_at_all_plans(options, row);
    row.digests.resize(static_cast<std::size_t>(options.tree->rank_count()));
    return row;
}

RankBody body_of(const Options& options, Case& row, std::vector<std::int32_t>& input,
                 std::vector<std::int32_t>& output) {
    if (row.algorithm == "ours")
        return [&](int rank) {
            replay(plan_of(*options.tree, row.spec, rank), options.speeds, options.way,
                   reinterpret_cast<std::byte*>(output.data()));
        };
    if (row.agreement != nullptr)
        return [&](int rank) {
            if (std::string wrong = row.agreement->run_step(rank); !wrong.empty())
                row.wrong.push_back(std::move(wrong));
        };
    if (row.algorithm == "executor")
        return [&](int rank) {
            const std::string wrong =
                run_executor(plan_of(*options.tree, row.spec, rank), options.way,
                             row.digests[static_cast<std::size_t>(rank)]);
            if (!wrong.empty()) row.wrong.push_back(wrong);
        };
    return [&](int) {
        run_rival(row.algorithm, input.data(), output.data(),
                  static_cast<std::size_t>(row.size_bytes) / sizeof(std::int32_t));
    };
}

bool finish(Case& row) {
    for (const std::uint64_t digest : row.digests)
        if (digest != row.digests.front()) {
            row.wrong.push_back("ranks differ in their results");
            break;
        }
    for (const std::string& wrong : row.wrong)
        fmt::print(stderr, "gradcoll simulate: {} of {} bytes: {}\n", row.algorithm, row.size_bytes,
                   wrong);
    return row.wrong.empty();
}

void print_row(const Options& options, const Case& row, const Timing& timing) {
    const bool planned = !row.digests.empty();
    fmt::print("{},\"{}\",{},{},{:.3f},{},{:.3f},{:.3f},{:.2f}\n", row.algorithm,
               planned ? options.codec_text : "exact", options.tree->rank_count(), row.size_bytes,
               timing.us, planned ? row.spec.chunk_elems * row.spec.elem_bytes : 0,
               row.predicted_us, row.link_us, timing.wall_s);
}

/// Returns the work of a row: SimGrid's time grows with the bytes, and is not zero for the shortest
/// vector.
double work_of(const Case& row) {
    return static_cast<double>(row.size_bytes) + (64 << 10);
}

/// A Program is what runs, with the rows that are shown.
struct Program {
    std::vector<RankBody> bodies;
    std::vector<const Case*> rows;  ///< by body

    void add(const Case& row, RankBody body) {
        bodies.push_back(std::move(body));
        rows.push_back(&row);
    }
};

std::vector<Timing> run_with_progress(const Scene& scene, const Program& program) {
    double work = 0;
    for (const Case* row : program.rows) work += work_of(*row);
    ProgressLine progress("gradcoll simulate", work, ProgressLine::Shown::on_terminal);
    return run_on(scene, program.bodies, [&](std::size_t body) {
        if (body > 0) progress.add(work_of(*program.rows[body - 1]));
        const Case& row = *program.rows[body];
        progress.begin(fmt::format("{}, {} bytes", row.algorithm, row.size_bytes));
    });
}

int simulate(const Options& options) {
    const TemporaryFile platform(platform_of(*options.tree));
    Scene scene;
    scene.platform_path = options.platform_path.empty() ? platform.path() : options.platform_path;
    scene.hosts = options.hosts;
    scene.settings = options.settings;
    std::vector<Case> rows;
    for (const std::int64_t size : options.sizes_bytes)
        for (const std::string& algorithm : options.algorithms)
            rows.push_back(case_of(options, algorithm, size));
    const std::int64_t largest =
        *std::max_element(options.sizes_bytes.begin(), options.sizes_bytes.end());
    std::vector<std::int32_t> input(static_cast<std::size_t>(largest) / sizeof(std::int32_t) + 64);
    std::vector<std::int32_t> output(input.size());
    Program program;
    std::vector<std::size_t> timed;  ///< by row
    for (Case& row : rows) {
        // Ranks that agree learn the names of gradients in a step before.
        if (row.agreement != nullptr) program.add(row, body_of(options, row, input, output));
        timed.push_back(program.bodies.size());
        program.add(row, body_of(options, row, input, output));
        if (row.agreement != nullptr) program.add(row, [&](int rank) { row.agreement->end(rank); });
    }
    const std::vector<Timing> timings = run_with_progress(scene, program);
    fmt::print(
        "algorithm,codec,ranks,bytes,time_us,chunk_bytes,predicted_us,busiest_link_us,wall_s\n");
    bool right = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].agreement != nullptr)
            rows[i].size_bytes = static_cast<std::int64_t>(rows[i].agreement->bytes_told());
        right &= finish(rows[i]);
        print_row(options, rows[i], timings[timed[i]]);
    }
    return right ? 0 : 1;
}

int run(int argc, char** argv) {
    const CommandLine command_line = parse_command_line(argc, argv);
    if (!command_line.run) {
        print(command_line);
        return command_line.exit_status;
    }
    const Options& options = command_line.options;
    switch (options.task) {
        case Task::print_platform:
            fmt::print("{}", platform_of(*options.tree));
            return 0;
        case Task::print_hosts:
            fmt::print("{}", hosts_of(*options.tree));
            return 0;
        case Task::simulate:
            break;
    }
    return simulate(options);
}

}  // namespace
}  // namespace gradcoll::simulate

int main(int argc, char** argv) {
    try {
        return gradcoll::simulate::run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "gradcoll simulate: {}\n", error.what());
        return 1;
    }
}
