// tests/soak/anywhere.cpp - makes random sums under gc_reproducible=anywhere, under mpirun:
//   soak_anywhere --cases 1000000 --seed 1 [--by-mpi]
// Contributions are dealt to the ranks of random communicators that are said to be on random hosts.
// Every rank compares all bits of its result with the sum that it makes of all contributions by
// itself. It ends with 0 and one line of counts, or at the first other bit with the seed and the
// case. --by-mpi: the program's calls are MPI's, for the preloaded library. Where GC_DEVICE names a
// plug-in, vectors of some ranks are in the memory of its device.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gradcoll.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>

#include "base/cpu.hpp"
#include "command_line/option_parser.hpp"
#include "reduce/grid.hpp"
#include "reduce/reducer.hpp"
#include "reduce/widen.hpp"
#include "soak/comms.hpp"
#include "soak/guarded_buffer.hpp"
#include "soak/hard_numbers.hpp"
#include "support/device_of_plugin.hpp"

namespace {

/// This is the host that the rank is said to be on, among those that share its memory.
std::atomic<int> said_host{0};

}  // namespace

/// Takes the place of the MPI library's function: the ranks of a host may be said to be on several.
extern "C" int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                                    MPI_Comm* made) {
    static const auto next =
        reinterpret_cast<decltype(&PMPI_Comm_split_type)>(dlsym(RTLD_NEXT, "PMPI_Comm_split_type"));
    const int code = next(comm, type, key, info, made);
    if (code != MPI_SUCCESS || type != MPI_COMM_TYPE_SHARED) return code;
    MPI_Comm host = *made;
    const int again = PMPI_Comm_split(host, said_host, key, made);
    PMPI_Comm_free(&host);
    return again;
}

namespace gradcoll::soak {
namespace {

struct Options {
    std::uint64_t cases = 1'000'000;
    std::uint64_t seed = 1;
    bool by_mpi = false;
};

/// Persistent sums become reductions to one rank where calls are MPI's.
enum class Form { blocking, in_place, nonblocking, persistent, scattered, engine };
constexpr std::size_t forms = 6;
constexpr const char* form_names[forms] = {"blocking",   "in place",  "nonblocking",
                                           "persistent", "scattered", "engine"};

/// Roll says what is summed: it is the same on all ranks of a communicator.
struct Roll {
    std::uint64_t number = 0;
    Form form = Form::blocking;
    const Element* element = nullptr;
    bool is_complex = false;  ///< two floats are one element of MPI
    Numbers numbers;
    std::size_t floats = 1;  ///< of a block, where the sum is scattered
    int contributions = 1;
    int turn = 0;  ///< which contribution rank 0 has
};

MPI_Datatype datatype_of(const Roll& roll) {
    if (!roll.is_complex) return roll.element->datatype;
    return roll.element->type == ElementType::f64 ? MPI_C_DOUBLE_COMPLEX : MPI_C_FLOAT_COMPLEX;
}

std::size_t rolled_floats(Dice& dice) {
    const std::size_t die = dice.below(10'000);
    const std::size_t most = die < 9000 ? 600 : die < 9900 ? 6000 : die < 9998 ? 70'000 : 1'500'000;
    return 1 + dice.below(most);
}

/// A Sum is one rank's part in one sum.
class Sum {
  public:
    Sum(const Roll& roll, const Comm& comm, GC_Engine engine, bool by_mpi, Dice& own)
        : roll_(roll), comm_(comm), engine_(engine), by_mpi_(by_mpi) {
        const std::size_t whole =
            roll.floats * (is(Form::scattered) ? static_cast<std::size_t>(comm.size()) : 1);
        const std::size_t bytes = element_bytes(roll.element->type);
        const int mine = (comm.rank + roll.turn) % comm.size();
        std::vector<std::vector<std::byte>> all;
        for (int i = 0; i < std::max(roll.contributions, mine + 1); ++i)
            all.push_back(contribution(i, whole));
        input_ = GuardedBuffer(whole * bytes, own.below(64 / bytes) * bytes);
        std::memcpy(input_.data(), all[static_cast<std::size_t>(mine)].data(), whole * bytes);
        output_ = GuardedBuffer(roll.floats * bytes, own.below(64 / bytes) * bytes);
        std::vector<const void*> sources;
        for (int i = 0; i < roll.contributions; ++i)
            sources.push_back(all[static_cast<std::size_t>(i)].data());
        std::vector<std::byte> sum(whole * bytes);
        reduce_many(grid_reducer(roll.element->type, InstructionSet::scalar), sources, sum.data(),
                    whole, false);
        if (takes_devices() && own.once_in(2)) {
            device_input_ = on_device(input_);
            device_output_ = on_device(output_);
        }
        const std::size_t skipped =
            is(Form::scattered) ? static_cast<std::size_t>(comm.rank) * roll.floats * bytes : 0;
        right_.assign(&sum[skipped], &sum[skipped] + roll.floats * bytes);
    }

    /// Starts it; most forms are complete on return.
    void start() { must(by_mpi_ ? run_by_mpi() : run(), describe()); }
    void finish() {
        if (is(Form::engine)) must(GC_Handle_wait(&handle_), describe());
        must(MPI_Wait(&request_, MPI_STATUS_IGNORE), describe());
    }
    bool is_started() const { return is(Form::nonblocking) || is(Form::engine); }
    std::size_t floats() const { return right_.size() / element_bytes(roll_.element->type); }

    /// Returns "" if the result has the bits that it has to have.
    std::string check() const {
        if (!output_.guards_hold() || !input_.guards_hold()) return "bytes beside were written";
        const bool has_none = by_mpi_ && is(Form::persistent) && comm_.rank != root();
        const std::vector<std::byte> got = result();
        if (has_none || got == right_) return {};
        const std::size_t bytes = element_bytes(roll_.element->type);
        std::size_t i = 0;
        while (std::memcmp(&got[i * bytes], &right_[i * bytes], bytes) == 0) ++i;
        return fmt::format("float {} of {} is {}, and {} is right", i, roll_.floats,
                           roll_.element->load(&got[i * bytes]),
                           roll_.element->load(&right_[i * bytes]));
    }
    std::string describe() const {
        return fmt::format(
            "sum {}: {}, {} x {}{}, numbers {} times {:g}, {} contributions from "
            "the {}th on, of {} ranks {}",
            roll_.number, form_names[static_cast<int>(roll_.form)], roll_.floats,
            roll_.element->name, roll_.is_complex ? " in pairs" : "", roll_.numbers.kind,
            roll_.numbers.scale, roll_.contributions, roll_.turn, comm_.size(), comm_.what);
    }

  private:
    bool is(Form form) const { return roll_.form == form; }
    int root() const { return roll_.turn; }
    /// Other forms take vectors in host memory alone.
    bool takes_devices() const {
        static const bool has_device = std::getenv("GC_DEVICE") != nullptr;
        return has_device && (is(Form::blocking) || is(Form::in_place));
    }
    static std::unique_ptr<test::OnDevice> on_device(const GuardedBuffer& host) {
        return std::make_unique<test::OnDevice>(bytes_of(host));
    }
    static std::vector<std::byte> bytes_of(const GuardedBuffer& host) {
        const auto* first = static_cast<const std::byte*>(host.data());
        return {first, first + host.size_bytes()};
    }
    void* input() { return device_input_ ? device_input_->data() : input_.data(); }
    void* output() { return device_output_ ? device_output_->data() : output_.data(); }
    std::vector<std::byte> result() const {
        const bool from_input = is(Form::in_place);
        const auto& device = from_input ? device_input_ : device_output_;
        return device ? device->content() : bytes_of(from_input ? input_ : output_);
    }
    int count() const { return static_cast<int>(roll_.floats / (roll_.is_complex ? 2 : 1)); }

    /// Returns a contribution; those beyond the last are zeros, of both signs.
    std::vector<std::byte> contribution(int index, std::size_t floats) const {
        const std::size_t bytes = element_bytes(roll_.element->type);
        std::vector<std::byte> made(floats * bytes);
        for (std::size_t i = 0; i < floats; ++i)
            roll_.element->store(index < roll_.contributions ? roll_.numbers.of(index, i)
                                 : index % 2 == 0            ? 0.0
                                                             : -0.0,
                                 &made[i * bytes]);
        return made;
    }

    int run() {
        const MPI_Datatype type = datatype_of(roll_);
        void *in = input(), *out = output();
        switch (roll_.form) {
            case Form::in_place:
                return GC_Allreduce(MPI_IN_PLACE, in, count(), type, MPI_SUM, comm_.handle);
            case Form::nonblocking:
                return GC_Iallreduce(in, out, count(), type, MPI_SUM, comm_.handle, &request_);
            case Form::scattered:
                return GC_Reduce_scatter_block(in, out, count(), type, MPI_SUM, comm_.handle);
            case Form::engine: {
                const std::string name = fmt::format("{}/{}", roll_.element->name, roll_.floats);
                return GC_Submit(engine_, (roll_.is_complex ? name + "c" : name).c_str(), in, out,
                                 count(), type, MPI_SUM, 0, &handle_);
            }
            case Form::persistent:
                return run_persistent(type);
            default:
                return GC_Allreduce(in, out, count(), type, MPI_SUM, comm_.handle);
        }
    }

    int run_persistent(MPI_Datatype type) {
        GC_Request request = GC_REQUEST_NULL;
        must(GC_Allreduce_init(input_.data(), output_.data(), count(), type, MPI_SUM, comm_.handle,
                               MPI_INFO_NULL, &request),
             describe());
        for (int times = 0; times < 2; ++times) {
            must(GC_Start(&request), describe());
            must(GC_Wait(&request), describe());
        }
        return GC_Request_free(&request);
    }

    int run_by_mpi() {
        const MPI_Datatype type = datatype_of(roll_);
        void *in = input(), *out = output();
        switch (roll_.form) {
            case Form::in_place:
                return MPI_Allreduce(MPI_IN_PLACE, in, count(), type, MPI_SUM, comm_.handle);
            case Form::nonblocking:
                return MPI_Iallreduce(in, out, count(), type, MPI_SUM, comm_.handle, &request_);
            case Form::scattered:
                return MPI_Reduce_scatter_block(in, out, count(), type, MPI_SUM, comm_.handle);
            case Form::persistent:
                return MPI_Reduce(in, out, count(), type, MPI_SUM, root(), comm_.handle);
            default:
                return MPI_Allreduce(in, out, count(), type, MPI_SUM, comm_.handle);
        }
    }

    Roll roll_;
    const Comm& comm_;
    GC_Engine engine_;
    bool by_mpi_;
    GuardedBuffer input_, output_;
    std::unique_ptr<test::OnDevice> device_input_, device_output_;
    std::vector<std::byte> right_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    GC_Handle handle_ = GC_HANDLE_NULL;
};

class AnywhereSoak {
  public:
    explicit AnywhereSoak(const Options& options)
        : options_(options), dice_(options.seed), exchanges_(exchange_names()) {
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        own_ = Dice(mixed(options.seed) + static_cast<std::uint64_t>(rank_));
        make_comm();
    }
    /// Returns the exit status.
    int run() {
        while (cases_ < options_.cases) {
            if (dice_.once_in(300)) {
                free_comm();
                make_comm();
            }
            one_sum();
        }
        free_comm();
        if (rank_ == 0)
            fmt::print(
                "soak_anywhere: {} sums of {} floats on {} communicators, seed {}, {} "
                "ranks{}: {} over trees\n",
                cases_, floats_, comms_, options_.seed, ranks_,
                options_.by_mpi ? ", by MPI's calls" : "", over_trees_);
        const bool as_planned =
            ranks_ == 1 || cases_ < 1000 || rank_ != 0 || over_trees_ > cases_ / 10;
        if (!as_planned) fmt::print(stderr, "soak_anywhere: too few sums went over trees\n");
        return as_planned ? 0 : 1;
    }

  private:
    void free_comm() {
        finish_started();
        add_counts();
        if (engine_ != GC_ENGINE_NULL) must(GC_Engine_free(&engine_), "GC_Engine_free");
        must(MPI_Comm_free(&comm_.handle), "MPI_Comm_free");
    }

    /// Makes a communicator of all ranks or of one of two parts, in any order.
    void make_comm() {
        const auto own = static_cast<std::uint64_t>(rank_);
        const std::size_t hosts = 1 + dice_.below(static_cast<std::size_t>(ranks_));
        said_host = static_cast<int>(mixed(dice_.bits() + own) % hosts);
        const std::uint64_t order = dice_.bits(), parts = dice_.once_in(3) ? 2 : 1;
        const auto part = static_cast<int>(mixed(order + own) % parts);
        MPI_Comm handle = MPI_COMM_NULL;
        must(MPI_Comm_split(MPI_COMM_WORLD, part, static_cast<int>(mixed(order - own) % 1000),
                            &handle),
             "MPI_Comm_split");
        MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN);
        comm_ = described(handle, fmt::format("on up to {} hosts", hosts));
        Dice of_part(dice_.bits() + static_cast<std::uint64_t>(part));
        set_comm(of_part);
        ++comms_;
    }

    void set_comm(Dice& dice) {
        set_option(comm_, "gc_reproducible", "anywhere");
        static const std::vector<std::string> memory{"0", "128K", "2M", "2M"},
            from{"0", "0", "64K"}, chunks{"auto", "1K", "4K", "64K"}, inside{"memory", "messages"},
            checks{"off", "off", "off", "sum"};
        set_option(comm_, "gc_shm_bytes", dice.any_of(memory));
        set_option(comm_, "gc_check", dice.any_of(checks));
        set_option(comm_, "gc_inside_hosts", dice.any_of(inside));
        const std::string tree = dice.once_in(3) ? "auto" : rolled_tree(dice, ranks_);
        if (tree != "auto") {
            set_option(comm_, "gc_topology", tree);
            set_option(comm_, "gc_tree_min_bytes", dice.any_of(from));
            set_option(comm_, "gc_exchange", dice.any_of(exchanges_));
            set_option(comm_, "gc_chunk_bytes", dice.any_of(chunks));
            set_option(comm_, "gc_chunks_in_flight", std::to_string(1 + dice.below(16)));
        }
        if (!options_.by_mpi && dice.once_in(6)) make_engine(dice, tree);
    }

    void make_engine(Dice& dice, const std::string& tree) {
        static const std::vector<std::string> ways{"tree", "ring,threads=0", "ps",
                                                   "tree,threads=2,coordinator=off"};
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        MPI_Info_set(info, "gc_reproducible", "anywhere");
        MPI_Info_set(info, "gc_topology", tree.c_str());
        MPI_Info_set(info, "gc_engine", dice.any_of(ways).c_str());
        must(GC_Engine_create(comm_.handle, info, &engine_), "GC_Engine_create");
        MPI_Info_free(&info);
    }

    void one_sum() {
        Roll roll;
        roll.number = cases_++;
        roll.form = dice_.once_in(2) ? Form::nonblocking : static_cast<Form>(dice_.below(forms));
        if (roll.form == Form::engine && engine_ == GC_ENGINE_NULL) roll.form = Form::blocking;
        roll.element = &elements_.any_of(dice_);
        const auto size = static_cast<std::size_t>(comm_.size());
        roll.contributions = 1 + static_cast<int>(dice_.bits() % size);
        roll.turn = static_cast<int>(dice_.bits() % size);
        roll.numbers = {.seed = dice_.bits(),
                        .kind = static_cast<int>(dice_.below(Numbers::kinds)),
                        .ranks = roll.contributions,
                        .scale = std::pow(10.0, static_cast<double>(dice_.below(7)) - 4),
                        .largest = largest_of(roll.element->type)};
        roll.floats = rolled_floats(dice_);
        const bool has_pairs =
            roll.element->type == ElementType::f32 || roll.element->type == ElementType::f64;
        roll.is_complex = dice_.once_in(5) && has_pairs;
        if (roll.is_complex) roll.floats += roll.floats % 2;
        auto sum = std::make_unique<Sum>(roll, comm_, engine_, options_.by_mpi, own_);
        floats_ += sum->floats();
        sum->start();
        if (sum->is_started())
            started_.push_back(std::move(sum));
        else
            compare(*sum);
        const bool finishes = dice_.once_in(20) || started_.size() > 30;
        // Two gradients of one name may not be under way.
        if (finishes || engine_ != GC_ENGINE_NULL) finish_started();
    }

    void finish_started() {
        while (!started_.empty()) {
            started_.back()->finish();
            compare(*started_.back());
            started_.pop_back();
        }
    }

    void compare(const Sum& sum) const {
        const std::string wrong = sum.check();
        if (wrong.empty()) return;
        fmt::print(stderr, "soak_anywhere --seed {}, rank {} of {}: {}: {}\n", options_.seed, rank_,
                   ranks_, sum.describe(), wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }

    void add_counts() {
        GC_Stats stats{};
        must(GC_Comm_get_stats(comm_.handle, &stats), "GC_Comm_get_stats");
        over_trees_ += stats.calls_tree;
    }

    Options options_;
    Dice dice_, own_{0};
    std::vector<std::string> exchanges_;
    const Elements elements_;
    int ranks_ = 1, rank_ = 0;
    Comm comm_;
    GC_Engine engine_ = GC_ENGINE_NULL;
    std::vector<std::unique_ptr<Sum>> started_;
    std::uint64_t cases_ = 0, floats_ = 0, comms_ = 0, over_trees_ = 0;
};

}  // namespace
}  // namespace gradcoll::soak

int main(int argc, char** argv) try {
    gradcoll::soak::Options options;
    gradcoll::OptionParser app("Random sums under gc_reproducible=anywhere, each bit compared",
                               "soak_anywhere");
    app.add_option("--cases", options.cases, "how many")->capture_default_str();
    app.add_option("--seed", options.seed, "what is rolled")->capture_default_str();
    app.add_flag("--by-mpi", options.by_mpi, "make MPI's calls, for the preloaded library");
    if (const auto status = app.exit_status(argc, argv)) return *status;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    const int code = gradcoll::soak::AnywhereSoak(options).run();
    MPI_Finalize();
    return code;
} catch (const std::exception& error) {
    fmt::print(stderr, "soak_anywhere: {}\n", error.what());
    return 1;
}
