// Calls of an unchanged program whose ranks have their vectors in different memory: some on the
// host, some on devices. Only a rank itself knows where its vectors are, so all ranks' calls must
// be served, or all must pass. The devices are emulated ones, or, with GC_DEVICE=off, memory that
// no plug-in serves and only the MPI library touches (unserved_memory.hpp).
#include <cmath>
#include <functional>
#include <memory>

#include "api/interposed/support.hpp"
#include "api/interposed/unserved_memory.hpp"
#include "call/device_support.hpp"

namespace gradcoll::test {
namespace {

bool plugin_is_off() {
    return std::string_view(std::getenv("GC_DEVICE")).starts_with("off");
}

/// Vector is a vector on the host or on a device of this process.
class Vector {
  public:
    Vector(bool on_device, const std::vector<float>& values) {
        if (on_device && plugin_is_off())
            unserved_ = std::make_unique<UnservedMemory>(Buffer::bytes_of(values));
        else
            buffer_ = std::make_unique<Buffer>(on_device, values);
    }
    void* data() { return unserved_ ? unserved_->data() : buffer_->data(); }
    std::vector<float> values() const {
        const auto bytes = unserved_ ? unserved_->content() : buffer_->content();
        std::vector<float> out(bytes.size() / sizeof(float));
        std::memcpy(out.data(), bytes.data(), bytes.size());
        return out;
    }

  private:
    std::unique_ptr<UnservedMemory> unserved_;
    std::unique_ptr<Buffer> buffer_;
};

/// Returns whole numbers, whose sums have one value in whatever order they are added.
std::vector<float> whole_numbers(int rank, int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 13) % 101);
    return values;
}

std::vector<float> sum_of_all(int ranks, int count) {
    std::vector<float> sum(static_cast<std::size_t>(count), 0.0F);
    for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<float> values = whole_numbers(rank, count);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
    return sum;
}

/// Places says which ranks' inputs and results are on devices.
struct Places {
    std::function<bool(int rank)> send, receive;
};

const Places all_places[] = {
    {[](int rank) { return rank % 2 == 0; }, [](int rank) { return rank % 2 == 0; }},
    {[](int rank) { return rank == 0; }, [](int) { return false; }},
    {[](int) { return false; }, [](int rank) { return rank != 0; }},
    {[](int) { return true; }, [](int) { return true; }},
    {[](int) { return false; }, [](int) { return false; }},
};

/// Returns whether the call was served, which has to be the same on all ranks.
bool served_on_all(const Answer& answer, MPI_Comm comm) {
    int all[2] = {answer.served ? 1 : 0, answer.served ? 0 : 1};
    PMPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MIN, comm);
    EXPECT_NE(all[0], all[1]) << "some ranks' calls passed";
    EXPECT_TRUE(!answer.served || answer.code == MPI_SUCCESS) << answer.code;
    return all[0] == 1;
}

void make_host_calls(MPI_Comm comm, int calls) {
    std::vector<float> values(long_count, 1.0F), out(long_count);
    for (int call = 0; call < calls; ++call)
        if (!connected()
                 .allreduce(values.data(), out.data(), long_count, MPI_FLOAT, MPI_SUM, comm)
                 .served)
            PMPI_Allreduce(values.data(), out.data(), long_count, MPI_FLOAT, MPI_SUM, comm);
}

/// MixedMemory calls on a communicator that is attached before vectors are on devices.
class MixedMemory : public testing::Test {
  protected:
    static constexpr int count = long_count;
    static constexpr int short_count = 1000;  ///< broadcasts and reductions of more pass

    static void SetUpTestSuite() {
        shared_comm = std::make_unique<PlainComm>();
        make_host_calls(*shared_comm, 60);
    }
    static void TearDownTestSuite() { shared_comm.reset(); }

    /// Makes the call, from `input_items` numbers of each rank to `output_items`, at every place,
    /// and compares what comes out. `expected` (taking a rank) returns null where nothing does.
    /// Ranks' calls that pass are none of ours. Returns how often it was served.
    template <class Make, class Expected>
    int make_everywhere(int input_items, int output_items, Make&& make, Expected&& expected) {
        int served = 0;
        for (const Places& places : all_places) {
            Vector send(places.send(comm_.rank()), whole_numbers(comm_.rank(), input_items));
            Vector receive(places.receive(comm_.rank()),
                           std::vector<float>(static_cast<std::size_t>(output_items), -1.0F));
            const Answer answer = make(send.data(), receive.data());
            if (!served_on_all(answer, comm_)) continue;
            ++served;
            const auto right = expected(comm_.rank());
            EXPECT_TRUE(right.empty() || receive.values() == right)
                << "place " << &places - all_places;
        }
        return served;
    }
    std::vector<float> whole_sum() const { return sum_of_all(comm_.size(), count); }

    static inline std::unique_ptr<PlainComm> shared_comm;
    const PlainComm& comm_ = *shared_comm;
};

constexpr int places = static_cast<int>(std::size(all_places));

TEST_F(MixedMemory, Allreduce) {
    if (comm_.size() == 1) GTEST_SKIP() << "calls of one rank pass";
    const int served = make_everywhere(
        count, count,
        [&](const void* in, void* out) {
            return connected().allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm_);
        },
        [&](int) { return whole_sum(); });
    EXPECT_EQ(served, places);
}

TEST_F(MixedMemory, AllreduceInPlace) {
    if (comm_.size() == 1) GTEST_SKIP() << "calls of one rank pass";
    for (const Places& where : all_places) {
        Vector both(where.receive(comm_.rank()), whole_numbers(comm_.rank(), count));
        const Answer answer =
            connected().allreduce(MPI_IN_PLACE, both.data(), count, MPI_FLOAT, MPI_SUM, comm_);
        EXPECT_TRUE(served_on_all(answer, comm_));
        EXPECT_EQ(both.values(), whole_sum());
    }
}

TEST_F(MixedMemory, Iallreduce) {
    if (comm_.size() == 1) GTEST_SKIP() << "calls of one rank pass";
    const int served = make_everywhere(
        count, count,
        [&](const void* in, void* out) {
            MPI_Request request = MPI_REQUEST_NULL;
            const Answer answer =
                connected().iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm_, &request);
            EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
            return answer;
        },
        [&](int) { return whole_sum(); });
    EXPECT_EQ(served, places);
}

TEST_F(MixedMemory, AllreduceInit) {
    if (comm_.size() == 1) GTEST_SKIP() << "calls of one rank pass";
    const int served = make_everywhere(
        count, count,
        [&](const void* in, void* out) {
            MPI_Request request = MPI_REQUEST_NULL;
            const Answer answer = connected().allreduce_init(in, out, count, MPI_FLOAT, MPI_SUM,
                                                             comm_, MPI_INFO_NULL, &request);
            if (!answer.served) return answer;
            for (int round = 0; round < 2; ++round) {
                EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
                connected()->started(1, &request);
                EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
            }
            connected()->freeing(&request);
            EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
            return answer;
        },
        [&](int) { return whole_sum(); });
    EXPECT_EQ(served, places);
}

TEST_F(MixedMemory, ReduceScatterBlock) {
    if (comm_.size() == 1) GTEST_SKIP() << "calls of one rank pass";
    const int served = make_everywhere(
        count * comm_.size(), count,
        [&](const void* in, void* out) {
            return connected().reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, comm_);
        },
        [&](int rank) {
            const auto whole = sum_of_all(comm_.size(), count * comm_.size());
            const auto first = whole.begin() + static_cast<std::ptrdiff_t>(rank) * count;
            return std::vector<float>(first, first + count);
        });
    EXPECT_EQ(served, places);
}

TEST_F(MixedMemory, Allgather) {
    if (comm_.size() == 1) GTEST_SKIP() << "calls of one rank pass";
    const int served = make_everywhere(
        count, count * comm_.size(),
        [&](const void* in, void* out) {
            return connected().allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm_);
        },
        [&](int) {
            std::vector<float> all;
            for (int rank = 0; rank < comm_.size(); ++rank) {
                const auto values = whole_numbers(rank, count);
                all.insert(all.end(), values.begin(), values.end());
            }
            return all;
        });
    EXPECT_EQ(served, places);
}

TEST_F(MixedMemory, Bcast) {
    if (comm_.size() == 1) GTEST_SKIP() << "calls of one rank pass";
    for (const Places& where : all_places) {
        const bool is_root = comm_.rank() == comm_.size() - 1;
        Vector both(where.receive(comm_.rank()),
                    is_root ? whole_numbers(3, short_count) : std::vector<float>(short_count));
        const Answer answer =
            connected().bcast(both.data(), short_count, MPI_FLOAT, comm_.size() - 1, comm_);
        if (!served_on_all(answer, comm_)) continue;
        EXPECT_EQ(both.values(), whole_numbers(3, short_count));
    }
}

TEST_F(MixedMemory, Reduce) {
    const int served = make_everywhere(
        short_count, short_count,
        [&](const void* in, void* out) {
            return connected().reduce(in, out, short_count, MPI_FLOAT, MPI_SUM, 0, comm_);
        },
        [&](int rank) {
            return rank == 0 ? sum_of_all(comm_.size(), short_count) : std::vector<float>();
        });
    EXPECT_EQ(served % places, 0) << "only the memory of one host serves it";
}

/// Where only copies reach what the program has on devices, its MPI library may do better.
TEST_F(MixedMemory, NoCommunicatorIsAttachedByUseAfterMemoryThatIsNotServed) {
    const char* const memory = std::getenv("GC_SHM_BYTES");
    if (!plugin_is_off() || memory == nullptr || std::string_view(memory) == "0")
        GTEST_SKIP() << "a plug-in serves, or length attaches";
    const PlainComm later;
    make_host_calls(later, 60);
    EXPECT_FALSE(later.is_attached());
}

}  // namespace
}  // namespace gradcoll::test
