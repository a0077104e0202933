// fuzz_memory - a rank shares memory with another one on its host that writes anything: the rings
// of messages, the words and slots of calls of one host, references to memory of its device, and
// the notes of a job's ranks. 10^7: fuzz_memory --inputs 10000000.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "attach/presence_answer.hpp"
#include "attach/presence_sheet.hpp"
#include "base/descriptor.hpp"
#include "command_line/option_parser.hpp"
#include "fuzz/memory_inputs.hpp"
#include "fuzz/mutator.hpp"
#include "fuzz/promises.hpp"
#include "runtime/one_host/allreduce.hpp"
#include "runtime/one_host/segment_group.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll::fuzz {
namespace {

constexpr std::size_t page_bytes = 4096;

/// Pages are filled with zeros.
class Pages {
  public:
    explicit Pages(std::size_t size_bytes)
        : size_(size_bytes),
          data_(static_cast<std::byte*>(std::aligned_alloc(page_bytes, size_bytes))) {
        clear();
    }
    ~Pages() { std::free(data_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    void clear() { std::memset(data_, 0, size_); }

  private:
    std::size_t size_;
    std::byte* data_;
};

// ---- rings of messages

/// In a RingInput rank 1 receives and sends while rank 0 writes records, feedback and cells. An
/// honest rank 0 runs beside, so that messages are under way.
class RingInput {
  public:
    void run(Random& random, Outcome& outcome) {
        memory_.clear();
        ShmChannel honest(ShmTraffic::make({memory_.data(), part_, 0, 2}).value(), 0);
        ShmChannel victim(ShmTraffic::make({memory_.data(), part_, 1, 2}).value(), 0);
        const auto theirs = honest.open_lane(messages), ours = victim.open_lane(messages);
        start(*theirs, 1, out_, random);
        start(*ours, 0, in_, random);
        ++outcome.inputs;
        std::array<Completion, 4> done;
        bool borne = true;
        for (int turn = 0; turn < 8 && borne; ++turn) {
            if (random.below(3) > 0) static_cast<void>(theirs->poll(done));
            if (random.below(2) == 0) write_nonsense(random);
            const auto count = ours->poll(done);
            borne = count.ok();
            if (!borne) must_be_a_message(count.status().message(), "rings");
            for (std::size_t i = 0; borne && i < *count; ++i)
                must(done[i].received_bytes <= longest, "no message is longer than its room", "");
        }
        outcome.borne += borne ? 1 : 0;
        theirs->abandon();
        ours->abandon();
    }

  private:
    static constexpr std::size_t messages = 6, longest = 5000;

    /// Starts receives with exactly their room, so that a sanitizer sees a byte behind it.
    void start(Lane& lane, int peer, std::vector<std::unique_ptr<std::byte[]>>& buffers,
               Random& random) {
        buffers.clear();
        constexpr std::size_t sizes[] = {0, 1, 48, 49, 256, 700, 2500, longest};
        for (std::size_t i = 0; i < messages; ++i) {
            const std::size_t size = sizes[random.below(std::size(sizes))];
            std::byte* const bytes =
                buffers.emplace_back(std::make_unique<std::byte[]>(size)).get();
            const int tag = static_cast<int>(random.below(3));
            static_cast<void>(
                i % 2 == 0
                    ? lane.start_send(peer, tag, bytes, size, static_cast<std::uint32_t>(i))
                    : lane.start_recv(peer, tag, bytes, size, static_cast<std::uint32_t>(i)));
        }
    }

    void write_nonsense(Random& random) {
        const ShmLayout layout = ShmLayout::make(memory_.data(), 2, part_).value();
        switch (random.below(4)) {
            case 0: {
                Feedback& told = layout.feedback(0, 1);
                SharedCounter* const words[] = {&told.taken, &told.inlined_matched, &told.released};
                words[random.below(3)]->store(number(random));
                break;
            }
            case 1:
                scribble(memory_.data(), part_, random);
                break;
            default:
                write_record(layout, random);
        }
    }

    /// Writes a record, mostly in the next place, and as if it were complete.
    static void write_record(const ShmLayout& layout, Random& random) {
        Record* const outbox = layout.outbox(0, 1);
        const auto slots = static_cast<std::size_t>(layout.slots());
        std::size_t at = random.below(slots);
        for (std::size_t i = 0; i < slots; ++i)
            if (outbox[i].turn.load() == 0) {
                at = i;
                break;
            }
        MessageNote note;
        note.sender_id = number(random);
        note.receiver_id = number(random);
        note.size_bytes = number(random);
        note.address = random.below(2) == 0 ? 0 : number(random);
        note.epoch = static_cast<std::uint32_t>(number(random));
        note.first_cell = static_cast<std::uint32_t>(random.below(70));
        note.run_bytes = random.below(2) == 0 ? note.size_bytes : number(random);
        Record& record = outbox[at];
        record.body = RecordBody::of(static_cast<RecordKind>(random.below(8)),
                                     static_cast<int>(random.below(3)), note);
        record.body.inline_bytes = static_cast<std::uint8_t>(random.below(60));
        if (random.below(4) == 0) record.body.group = static_cast<std::uint16_t>(number(random));
        record.turn.store(random.below(8) == 0 ? number(random) : at + 1);
    }

    std::size_t part_ = ShmLayout::bytes_a_rank_for(2, 64 * 256);
    Pages memory_{2 * part_};
    std::vector<std::unique_ptr<std::byte[]>> in_, out_;
};

// ---- calls of one host

/// This waiter never waits: calls that were started only poll.
const Waiter never_waits(with_shared_core, nullptr, nullptr);

/// In a GroupInput rank 0 starts calls; rank 1's part holds anything.
class GroupInput {
  public:
    void run(Random& random, Outcome& outcome) {
        memory_.clear();
        SegmentGroup group(memory_.data(), 0, 2, sizes_, never_waits);
        OneHostAllreduce allreduce(group, choices());
        ++outcome.inputs;
        bool borne = true;
        for (int calls = 0; calls < 3 && borne; ++calls) {
            constexpr std::size_t counts[] = {1, 5, 30, 200, 1000, 5000};
            const std::size_t count = counts[random.below(std::size(counts))];
            const auto in = std::make_unique<float[]>(count),
                       out = std::make_unique<float[]>(count);
            const OneHostCall call{in.get(), out.get(), count,
                                   reducer_for(ReduceOp::sum, ElementType::f32), 77};
            Startable& started = allreduce.start(call);
            for (int turn = 0; turn < 60 && !started.is_over(); ++turn) {
                if (random.below(4) == 0) answer(random, static_cast<std::uint64_t>(calls) + 1);
                static_cast<void>(started.advance());
            }
            borne = started.is_over();
            if (!borne) break;
            const Status status = started.outcome();
            borne = accepted(status, "words of one host");
        }
        outcome.borne += borne ? 1 : 0;
    }

  private:
    OneHostChoices choices() const {
        OneHostChoices choices;
        choices.sizes = sizes_;
        choices.flat_max_bytes = SIZE_MAX;
        return choices;
    }

    /// Writes words that mostly say that rank 1 has come, with our signature or another.
    void answer(Random& random, std::uint64_t call) {
        std::byte* const part = memory_.data() + SegmentGroup::bytes_a_rank(2, sizes_);
        if (random.below(3) == 0)
            return scribble(part, SegmentGroup::bytes_a_rank(2, sizes_), random);
        SegmentGroup theirs(memory_.data(), 1, 2, sizes_, never_waits);
        const std::uint64_t signature =
            random.below(6) == 0
                ? SegmentGroup::refusal_signature(static_cast<Code>(random.below(256)))
                : 77;
        for (std::uint64_t i = 0; i < call; ++i) theirs.begin_call(signature, 0, Waits::for_all);
        theirs.announce(
            static_cast<std::uint32_t>(1 + random.below(random.below(8) == 0 ? 1 << 24 : 8)));
    }

    SegmentSizes sizes_{1024, 8192};
    Pages memory_{2 * SegmentGroup::bytes_a_rank(2, sizes_)};
};

// ---- notes of a job's ranks

class SheetInput {
  public:
    void run(Random& random, Outcome& outcome) {
        const JobOnHost job{0x6675'7a7a'0000'0000U + static_cast<std::uint64_t>(getpid()), 0, ranks,
                            ranks};
        const auto sheet = PresenceSheet::open(job).value();
        sheet->write(0, 50, "GC_CODEC=2:4");
        damage(job, random);
        const int notes = sheet->close(0);
        must(notes >= 0 && notes <= ranks, "no more notes than ranks", "presence sheet");
        ++outcome.inputs;
        std::size_t bytes = 0;
        for (int i = 0; i < notes; ++i) {
            const PresenceSheet::Note note = sheet->note(i);
            for (const char c : note.text) bytes += static_cast<unsigned char>(c) != 0 ? 1 : 0;
        }
        outcome.borne += notes == 1 && bytes == 12 ? 1 : 0;
    }

  private:
    static constexpr int ranks = 3;

    static void damage(const JobOnHost& job, Random& random) {
        const std::string path = fmt::format("/dev/shm/gradcoll-presence2-{:016x}", job.name);
        const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
        const off_t size = lseek(file.number(), 0, SEEK_END);
        must(size > 8, "a sheet has a file", path);
        for (std::size_t changes = random.below(4); changes > 0; --changes) {
            const std::uint64_t word = number(random);
            // The words in front say how many have written and whether it is closed.
            const std::size_t reach = random.below(2) == 0 ? 8 : static_cast<std::size_t>(size) - 8;
            must(pwrite(file.number(), &word, 4, static_cast<off_t>(random.below(reach) / 4 * 4)) ==
                     4,
                 "a sheet can be written", path);
        }
    }
};

void tell(const char* what, const Outcome& outcome) {
    fmt::print("{:<24} {:>10} inputs, {:>10} borne\n", what, outcome.inputs, outcome.borne);
    must(outcome.inputs < 10'000 ||
             (outcome.borne > outcome.inputs / 100 && outcome.borne < outcome.inputs),
         "inputs that test something", what);
}

void run(std::uint64_t inputs, std::uint64_t seed) {
    RingInput rings;
    GroupInput group;
    SheetInput sheet;
    ReferenceInput references;
    Outcome of_rings, of_group, of_sheet, of_references;
    for (std::uint64_t i = 0; i < inputs; ++i) {
        Random random(seed, i);
        if (i % 16 == 0)
            sheet.run(random, of_sheet);
        else if (i % 8 == 1)
            references.run(random, of_references);
        else if (i % 2 == 0)
            group.run(random, of_group);
        else
            rings.run(random, of_rings);
    }
    tell("rings of messages", of_rings);
    tell("calls of one host", of_group);
    tell("notes of a job's ranks", of_sheet);
    tell("references to a device", of_references);
    fmt::print("fuzz_memory: {} inputs of seed {}, no promise broken\n", inputs, seed);
}

}  // namespace
}  // namespace gradcoll::fuzz

int main(int argc, char** argv) {
    std::uint64_t inputs = 40'000, seed = 1;
    gradcoll::OptionParser app("Feeds a rank memory that another one of its host has damaged.",
                               "fuzz_memory");
    app.add_option("--inputs", inputs, "in all");
    app.add_option("--seed", seed, "of chance");
    if (const auto status = app.exit_status(argc, argv)) return *status;
    gradcoll::fuzz::run(inputs, seed);
    return 0;
}
