// tests/fuzz/nic_main.cpp - random messages to an NIC agent: entries, frames and vectors of ranks,
// frames of other agents, packets of processes; and those of an agent to its rank. Each is refused,
// or leaves a valid state. A sanitizer sees accesses out of bounds.
#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "command_line/option_parser.hpp"
#include "compress/frame.hpp"
#include "fuzz/nic_inputs.hpp"
#include "fuzz/nic_rank_input.hpp"
#include "fuzz/nic_sums_input.hpp"
#include "nic/agent/link.hpp"
#include "nic/coded_frame.hpp"

namespace gradcoll {
namespace {

// ---- a rank

/// A RankInput is entries one after another, until one is refused.
class RankInput {
  public:
    void run(Random& random, Outcome& outcome) {
        if (member_ == nullptr || refused_) renew();
        NicEntry entry;
        entry.kind = static_cast<NicEntryKind>(random() % 64 == 0 ? number(random) : 1);
        if (random() % 8 == 0) entry.kind = NicEntryKind::consumed;
        entry.peer = random() % 32 == 0 ? static_cast<std::uint32_t>(number(random)) : 2;
        entry.number = random() % 32 == 0 ? number(random) : ++posted_;
        entry.size_bytes =
            random() % 16 == 0 ? number(random) : random() % fuzzed_shape().slot_bytes;
        entry.coding = static_cast<NicCoding>(random() % 32 == 0 ? random() : 0);
        entries_.write(entry);
        ++outcome.inputs;
        const auto taken = member_->take_entry();
        refused_ = !taken.ok();
        if (refused_) return;
        ++outcome.taken;
        NicMember::Pair& pair = member_->pair(2);
        promise(pair.posted - pair.delivered <= fuzzed_shape().slots, "more frames than slots");
        if (!pair.may_send()) return;
        const LinkFrame frame = member_->next_frame(2);
        promise(member_->bytes_of(frame).size() <= fuzzed_shape().slot_bytes, "longer than a slot");
        LinkFrame word;
        word.source = 2;
        word.number = frame.number;
        for (const FrameKind kind : {FrameKind::delivered, FrameKind::consumed}) {
            word.kind = kind;
            promise(member_->take_word(word).ok(), "a word that is right");
        }
    }

  private:
    void renew() {
        member_ = new_member(0, &region_);
        entries_ = NicRingWriter(region_.layout(), NicWay::to_agent);
        posted_ = 0;
        refused_ = false;
    }
    std::shared_ptr<NicMember> member_;
    SharedRegion region_;
    NicRingWriter entries_;
    std::uint64_t posted_ = 0;
    bool refused_ = false;
};

// ---- frames that are coded

class CodedInput {
  public:
    CodedInput() {
        for (const char* name :
             {"int8", "2:4", "int4/abs=0.01", "bound/abs=0.01", "int8+zstd", "bf16", "2:4+int8+lz4",
              "int8/abs=0.01", "int16/abs=0.0002", "int/abs=0.001", "int/abs=1e-9"}) {
            const Codec codec = codec_for(codec_from_name(name).value(), ElementType::f32).value();
            const std::size_t count = 1300;
            Bytes plain(frame_header_bytes + count * sizeof(float));
            for (std::size_t i = 0; i < count; ++i) {
                const float value = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 7;
                std::memcpy(&plain[frame_header_bytes + i * sizeof value], &value, sizeof value);
            }
            write_plain_header(codec, count, plain.data());
            const auto coded = coder_.encode(plain, coding_of(codec), ~std::uint64_t{0});
            promise(coded.ok(), "a frame that is right");
            if (TwoStreams::is_batch(*coded)) ++batches_;
            coded_.emplace_back(coded->begin(), coded->end());
            plain_.push_back(std::move(plain));
        }
        promise(batches_ >= 3, "frames of two streams");
    }
    const Bytes& coded(Random& random) const { return coded_[random() % coded_.size()]; }
    void run(Random& random, Outcome& outcome) {
        const bool encodes = random() % 2 == 0;
        Bytes bytes = (encodes ? plain_ : coded_)[random() % plain_.size()];
        mutate(bytes, random);
        const auto exact = std::make_unique<std::byte[]>(bytes.size());
        if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
        const std::span<const std::byte> input(exact.get(), bytes.size());
        ++outcome.inputs;
        if (encodes) {
            const std::uint64_t spare_ns = random() % 2 == 0 ? 0 : ~std::uint64_t{0};
            const auto made =
                coder_.encode(input, static_cast<NicCoding>(1 + random() % 3), spare_ns);
            if (made.ok()) ++outcome.taken;
        } else {
            const auto room = std::make_unique<std::byte[]>(6000);
            const auto size = coder_.decode(input, {room.get(), 6000});
            if (size.ok()) ++outcome.taken;
            if (size.ok()) promise(*size <= 6000, "longer than its room");
        }
    }

  private:
    FrameCoder coder_;
    std::vector<Bytes> plain_, coded_;
    int batches_ = 0;
};

// ---- another agent

/// An AgentInput is frames on one link, as many as come in one piece.
class AgentInput {
  public:
    explicit AgentInput(const CodedInput& coded)
        : coded_(coded), poller_(std::move(Poller::make()).value()) {
        std::array<int, 2> ends{};
        promise(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0, "sockets");
        here_ = Descriptor(ends[0]);
        there_ = Descriptor(ends[1]);
        members_.roster.host_of_rank = fuzzed_hosts(2);
        members_.by_rank.resize(fuzzed_ranks);
        members_.gone.resize(fuzzed_ranks);
        members_.here = {0};
    }

    void run(Random& random, Outcome& outcome) {
        if (members_.by_rank[0] == nullptr || failed_) {
            members_.by_rank[0] = new_member(0);
            next_.fill(1);
            failed_ = false;
        }
        Bytes bytes;
        for (std::uint64_t frames = 1 + random() % 3; frames > 0; --frames) add(bytes, random);
        Link link({poller_, counters_, members_, sums_}, 1, Descriptor(dup(here_.number())),
                  [&](const Status&) { failed_ = true; });
        ++outcome.inputs;
        if (!link.begin(bytes).ok()) failed_ = true;
        if (!failed_) ++outcome.taken;
        const NicMember::Pair& pair = members_.by_rank[0]->pair(2);
        promise(pair.received <= pair.consumed + fuzzed_shape().slots, "more frames than slots");
    }

  private:
    void add(Bytes& to, Random& random) {
        LinkFrame frame;
        frame.kind = static_cast<FrameKind>(1 + random() % 5);
        if (random() % 2 == 0) frame.kind = FrameKind::data;
        frame.source = random() % 32 == 0 ? static_cast<std::uint32_t>(number(random)) : 2;
        frame.target = random() % 32 == 0 ? static_cast<std::uint32_t>(number(random)) : 0;
        const bool is_data = frame.kind == FrameKind::data;
        frame.number = random() % 32 == 0 ? number(random) : is_data ? next_[0]++ : 0;
        Bytes body(is_data ? random() % 500 : 0);
        if (is_data && random() % 2 == 0) {
            body = coded_.coded(random);
            frame.coding = static_cast<NicCoding>(1 + random() % 3);
            if (random() % 8 == 0) mutate(body, random);
        }
        frame.size_bytes = static_cast<std::uint32_t>(body.size());
        if (random() % 64 == 0) frame.size_bytes = static_cast<std::uint32_t>(number(random));
        frame.crc = crc_of(frame, body);
        if (random() % 32 == 0) frame.crc ^= 1U << random() % 32;
        const auto head = std::as_bytes(std::span(&frame, 1));
        to.insert(to.end(), head.begin(), head.end());
        to.insert(to.end(), body.begin(), body.end());
        if (random() % 32 == 0) to[random() % to.size()] = static_cast<std::byte>(random());
    }

    const CodedInput& coded_;
    Poller poller_;
    AgentCounters counters_;
    LocalMembers members_;
    GroupSums sums_{{members_, counters_},
                    [](std::uint32_t, const LinkFrame&, const SumBytes&) {},
                    [](std::uint32_t) { return std::uint64_t{0}; }};
    Descriptor here_, there_;
    std::array<std::uint64_t, 1> next_{1};
    bool failed_ = false;
};

// ---- a process

void run_packet(Random& random, Outcome& outcome) {
    NicRoster roster;
    const auto hosts = static_cast<std::uint32_t>(1 + random() % 4);
    for (std::uint64_t i = random() % 9; i > 0; --i)
        roster.host_of_rank.push_back(static_cast<std::uint32_t>(random() % hosts));
    roster.endpoints.resize(hosts);
    Bytes bytes = roster.packed();
    mutate(bytes, random);
    const auto exact = std::make_unique<std::byte[]>(bytes.size());
    if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
    ++outcome.inputs;
    const auto read = NicRoster::unpacked({exact.get(), bytes.size()});
    if (!read.ok()) return;
    ++outcome.taken;
    for (const std::uint32_t host : read->host_of_rank)
        promise(host < read->endpoints.size(), "a host that is not there");
}

void tell(const char* who, const Outcome& outcome) {
    fmt::print("{:<12} {:>10} inputs, {:>10} taken\n", who, outcome.inputs, outcome.taken);
    promise(outcome.taken > outcome.inputs / 100 && outcome.taken < outcome.inputs,
            "inputs that test nothing: (nearly) all or none are taken");
}

void run(std::uint64_t inputs, std::uint64_t seed) {
    Random random(seed);
    RankInput rank;
    CodedInput coded;
    AgentInput agent(coded);
    SumsInput sums;
    ToRankInput to_rank;
    ToSumsOfRankInput to_sums_of_rank;
    Outcome of_rank, of_coded, of_agent, of_process, of_sums, of_own_agent, of_own_sums;
    for (std::uint64_t i = 0; i < inputs; ++i) {
        switch (i % 7) {
            case 0:
                rank.run(random, of_rank);
                break;
            case 1:
                coded.run(random, of_coded);
                break;
            case 2:
                agent.run(random, of_agent);
                break;
            case 3:
                sums.run(random, of_sums);
                break;
            case 4:
                to_rank.run(random, of_own_agent);
                break;
            case 5:
                to_sums_of_rank.run(random, of_own_sums);
                break;
            default:
                run_packet(random, of_process);
        }
    }
    tell("a rank", of_rank);
    tell("coded frames", of_coded);
    tell("an agent", of_agent);
    tell("a process", of_process);
    tell("sums", of_sums);
    tell("own agent", of_own_agent);
    tell("own sums", of_own_sums);
}

}  // namespace
}  // namespace gradcoll

int main(int argc, char** argv) {
    std::uint64_t inputs = 40'000, seed = 1;
    gradcoll::OptionParser app("Made-up ranks, agents and processes for an NIC agent.", "fuzz_nic");
    app.add_option("--inputs", inputs, "in all");
    app.add_option("--seed", seed, "of chance");
    if (const auto status = app.exit_status(argc, argv)) return *status;
    try {
        gradcoll::run(inputs, seed);
    } catch (const std::exception& error) {
        fmt::print(stderr, "fuzz_nic: {}\n", error.what());
        return 1;
    }
    return 0;
}
