// gc_bench allreduce - measures GC_Allreduce beside MPI_Allreduce or another peer. Exit status: 0;
// 1 if a check failed; 2 for bad options; 77 if there is no such device here.
#include <fmt/format.h>
#include <gradcoll/gradcoll.h>

#include <climits>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "case.hpp"
#include "element.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "peers/peer.hpp"
#include "peers/staged.hpp"
#include "tools/progress/progress.hpp"
#include "writers/writers.hpp"

namespace gradcoll::bench {
namespace {

int my_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

TableHead head_of(const Contest& contest) {
    TableHead head;
    head.codec = contest.subject.codec();
    head.tree_expression = contest.subject.tree(GC_TREE_EXPRESSION);
    head.tree_origin = contest.subject.tree(GC_TREE_ORIGIN);
    head.mpi_library = mpi_library();
    head.peer = contest.peer.description();
    head.memory = contest.memory.description();
    MPI_Comm_size(MPI_COMM_WORLD, &head.ranks);
    return head;
}

/// Reporter prints and writes on rank 0; the other ranks only take part.
class Reporter {
  public:
    Reporter(const Options& options, const Peer& peer, bool is_root)
        : options_(options),
          is_root_(is_root),
          csv_(options.csv_path),
          progress_("gc_bench allreduce", work_of(options), shown(options, is_root)) {
        report_.mpi_library = mpi_library();
        report_.peer = peer.description();
    }

    void begin_table(const TableHead& head) {
        if (is_root_) {
            print_head(options_, head);
        }
    }
    void begin(const std::string& codec, std::size_t size_bytes) {
        progress_.begin(fmt::format("{}, {} bytes", codec, size_bytes));
    }
    void add(const Row& row) {
        progress_.add(options_.work_of(row.size_bytes));
        progress_.clear();
        failed_ |= row.verdict.has_value() && !row.verdict->passed;
        if (!is_root_) {
            return;
        }
        print_row(options_, row);
        report_.rows.push_back(columns_of(options_, row));
        if (!options_.csv_path.empty()) {
            csv_.write(report_.rows.back());
        }
    }
    void end_table(const std::vector<Row>& rows) {
        if (is_root_) {
            print_remarks(rows);
            report_.summaries.push_back({rows.front().codec, summary_of(ratios_of(rows))});
        }
    }
    int finish() const {
        if (is_root_ && !options_.json_path.empty()) {
            write_json(options_.json_path, report_);
        }
        return failed_ ? 1 : 0;
    }

  private:
    static double work_of(const Options& options) {
        double work = 0;
        for (const std::size_t size_bytes : options.sizes_bytes) {
            work += options.work_of(size_bytes);
        }
        return work * static_cast<double>(options.codecs.size());
    }
    static ProgressLine::Shown shown(const Options& options, bool is_root) {
        if (!is_root) {
            return ProgressLine::Shown::never;
        }
        return options.progress ? ProgressLine::Shown::always : ProgressLine::Shown::on_terminal;
    }

    const Options& options_;
    bool is_root_;
    CsvWriter csv_;
    ProgressLine progress_;
    Report report_;
    bool failed_ = false;
};

void measure_table(const Contest& contest, Reporter& reporter) {
    std::vector<Row> rows;
    reporter.begin_table(head_of(contest));
    for (const std::size_t size_bytes : contest.options.sizes_bytes) {
        reporter.begin(contest.subject.codec(), size_bytes);
        rows.push_back(measure(contest, size_bytes));
        reporter.add(rows.back());
    }
    reporter.end_table(rows);
}

int measure_all(const Options& options, Memory& memory) {
    const std::size_t max_count = options.sizes_bytes.back() / options.element->bytes;
    const std::vector<std::byte> input =
        generate(options.data, *options.element, max_count, options.seed, my_rank());
    Buffer input_there(memory, input.size());
    memory.copy(input_there.data(), input.data(), input.size());
    const std::unique_ptr<Peer> peer =
        within_reach(find_peer(options.peer)->make(options.peer_workload()), memory,
                     *options.element, input.size());
    Reporter reporter(options, *peer, my_rank() == 0);
    for (const std::string& codec : options.codecs) {
        const Subject subject(options, codec);
        measure_table({options, subject, *peer, memory, input, input_there.data()}, reporter);
    }
    return reporter.finish();
}

int print_tree(const Options& options) {
    const Subject subject(options, options.codecs.front());
    const std::string text = subject.tree(GC_TREE_TEXT);
    const std::string origin = subject.tree(GC_TREE_ORIGIN);
    if (my_rank() == 0) {
        fmt::print("{}\n{}", origin, text);
    }
    return 0;
}

// Makes all ranks exit with the same status: what one of them refuses (a file that only its host
// lacks), all refuse.
int agreed_exit_status(int exit_status) {
    int worst = 0;
    MPI_Allreduce(&exit_status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}

// Prints a text of the lowest rank that has one.
void print_once(const std::string& text, int exit_status) {
    const int mine = text.empty() ? INT_MAX : my_rank();
    int speaker = INT_MAX;
    MPI_Allreduce(&mine, &speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (mine == speaker) {
        fmt::print(exit_status == 0 ? stdout : stderr, "{}", text);
    }
}

int measure_where_asked(const Options& options) {
    const OpenedMemory opened = open_memory(options.device);
    const int status = agreed_exit_status(opened.exit_status);
    print_once(opened.problem, status);
    return status != 0 ? status : measure_all(options, *opened.memory);
}

int run(int argc, char** argv) {
    const CommandLine command_line = parse_command_line(argc, argv);
    const int status = agreed_exit_status(command_line.exit_status);
    print_once(command_line.text, status);
    if (status != 0 || !command_line.run) {
        return status;
    }
    const Options& options = command_line.options;
    return options.print_tree ? print_tree(options) : measure_where_asked(options);
}

// Runs, and reports exceptions. All ranks throw usage errors alike; anything else may be one rank's
// own.
int run_guarded(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::invalid_argument& error) {
        if (my_rank() == 0) {
            fmt::print(stderr, "gc_bench allreduce: {}\n", error.what());
        }
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "gc_bench allreduce: rank {}: {}\n", my_rank(), error.what());
        return MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

}  // namespace
}  // namespace gradcoll::bench

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int status = gradcoll::bench::run_guarded(argc, argv);
    MPI_Finalize();
    return status;
}
