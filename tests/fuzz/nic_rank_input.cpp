#include "fuzz/nic_rank_input.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "compress/frame.hpp"
#include "nic/sum_note.hpp"
#include "nic/transport/nic_wires.hpp"

namespace gradcoll {
namespace {

/// A FuzzedDetour brings nothing except, now and then, what is impossible.
class FuzzedDetour final : public FrameDetour {
  public:
    Status send(std::uint32_t, const OutgoingFrame&, std::span<const std::byte>) override {
        return {};
    }
    std::uint64_t under_way(std::uint32_t) const override { return 0; }
    Result<bool> receive(DetouredFrame& out) override {
        if (random_() % 2048 != 0) return false;
        out.peer = static_cast<std::uint32_t>(random_() % 8 == 0 ? number(random_) : 2);
        out.number = number(random_);
        out.note = note_of(static_cast<FrameSays>(random_() % 8), number(random_));
        out.coding = static_cast<NicCoding>(random_() % nic_coding_count);
        out.bytes.resize(random_() % 300);
        return true;
    }

  private:
    Random random_{1};
};

/// Returns a frame's plain form: header and elements.
Bytes plain_of(const Codec& codec, std::size_t count) {
    Bytes bytes(frame_header_bytes + count * sizeof(float));
    write_plain_header(codec, count, bytes.data());
    return bytes;
}

}  // namespace

// ---- the agent

FuzzedAgent::FuzzedAgent() {
    std::string name = std::filesystem::temp_directory_path() / "gc_fuzz_XXXXXX";
    promise(mkdtemp(name.data()) != nullptr, "a folder");
    directory_ = name;
    auto door = open_nic_door(directory_);
    promise(door.ok() && door->has_value(), "a door");
    door_ = std::move(**door);
}

FuzzedAgent::~FuzzedAgent() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

/// Sends what an agent answers to a rank that joins.
void FuzzedAgent::answer() {
    rank_ = Descriptor(accept(door_.socket.number(), nullptr, nullptr));
    while (!rank_.is_open()) rank_ = Descriptor(accept(door_.socket.number(), nullptr, nullptr));
    (void)receive_packet(rank_.number());
    (void)send_packet(rank_.number(), NicWelcome{});
    (void)receive_packet(rank_.number());
    Descriptor file;
    region_ = SharedRegion::make(fuzzed_shape(), file).value();
    event_ = Descriptor(eventfd(0, EFD_NONBLOCK));
    NicReady ready;
    ready.shape = fuzzed_shape();
    const Descriptor* files[] = {&file, &event_};
    (void)send_packet(rank_.number(), ready, files);
}

AgentConnection FuzzedAgent::meet() {
    std::thread agent([this] { answer(); });
    auto connection = AgentConnection::open(directory_, NicHello{});
    NicRoster roster;
    roster.host_of_rank = fuzzed_hosts(2);
    roster.endpoints.resize(2);
    const Status joined = connection.ok() ? connection->join(roster) : connection.status();
    agent.join();
    promise(joined.ok(), joined.message().c_str());
    arrivals_ = NicRingWriter(layout(), NicWay::to_rank);
    entries_ = NicRingReader(layout(), NicWay::to_agent);
    brought_.fill(0);
    posted_.fill(0);
    return std::move(connection).value();
}

void FuzzedAgent::bring(Random& random, std::uint32_t peer, const NicNote& note, const Bytes& bytes,
                        NicCoding coding) {
    NicEntry entry;
    entry.kind =
        random() % 1024 == 0 ? static_cast<NicEntryKind>(number(random)) : NicEntryKind::frame;
    entry.peer = random() % 1024 == 0 ? static_cast<std::uint32_t>(number(random)) : peer;
    entry.number = random() % 512 == 0 ? number(random) : ++brought_[peer];
    entry.size_bytes = random() % 512 == 0 ? number(random) : bytes.size();
    entry.note = note;
    entry.coding = random() % 256 == 0 ? static_cast<NicCoding>(random()) : coding;
    if (!bytes.empty())
        std::memcpy(layout().slot(NicSlots::coming, peer, entry.number), bytes.data(),
                    bytes.size());
    arrivals_.write(entry);
    if (random() % 4096 == 0) layout().ring_words(false).written = random();
}

void FuzzedAgent::tell(Random& random, std::uint32_t peer) {
    NicPeerWords& words = layout().peer(peer);
    words.delivered = random() % 32 == 0 ? number(random) : posted_[peer];
    if (random() % 2048 == 0) words.state = number(random);
    layout().agent().beats = random();
}

std::uint64_t FuzzedAgent::read_entries() {
    std::uint64_t frames = 0;
    for (;;) {
        const auto entry = entries_.read();
        promise(entry.ok(), "a ring of a rank that is right");
        if (!entry->has_value()) return frames;
        promise((*entry)->peer < fuzzed_ranks, "an entry for nobody");
        promise((*entry)->size_bytes <= fuzzed_shape().slot_bytes, "longer than a slot");
        if ((*entry)->kind != NicEntryKind::frame) continue;
        promise((*entry)->number == ++posted_[(*entry)->peer], "a number that is not the next");
        ++frames;
    }
}

// ---- messages

ToRankInput::ToRankInput() : codec_(codec_for(CodecId::int8, ElementType::f32).value()) {}

void ToRankInput::renew() {
    finished_.forget();
    traffic_ = nullptr;
    traffic_ = std::make_unique<NicTraffic>(agent_.meet(), 0, std::vector<std::uint32_t>{2, 3},
                                            std::make_unique<FuzzedDetour>());
    traffic_->lane_opened(messages_.size());
    messages_ = {};
}

void ToRankInput::start(Random& random) {
    const auto cookie = static_cast<std::uint32_t>(random() % messages_.size());
    Message& message = messages_[cookie];
    if (message.is_under_way) return;
    const std::size_t slot = fuzzed_shape().slot_bytes;
    const bool is_long = random() % 8 == 0;
    message.size_bytes = is_long ? random() % (11 * slot) : random() % 2000;
    const bool is_coded = random() % 4 == 0;
    if (is_coded) message.size_bytes = message.size_bytes / sizeof(float) * sizeof(float);
    message.bytes = std::make_unique<std::byte[]>(message.size_bytes);
    message.is_under_way = true;
    message.is_receive = cookie < 5;
    const int peer = random() % 2 == 0 ? 2 : 3;
    const int tag = static_cast<int>(random() % 2);
    const Codec* const codec = is_coded ? &codec_ : nullptr;
    const Status started = message.is_receive
                               ? traffic_->start_recv({&finished_,
                                                       message.bytes.get(),
                                                       message.size_bytes,
                                                       cookie,
                                                       peer,
                                                       tag,
                                                       codec,
                                                       {}})
                               : traffic_->start_send({&finished_, message.bytes.get(),
                                                       message.size_bytes, cookie, peer, tag});
    if (!started.ok()) traffic_ = nullptr;
}

void ToRankInput::run(Random& random, Outcome& outcome) {
    if (traffic_ == nullptr) renew();
    start(random);
    if (traffic_ == nullptr) return;
    agent_.read_entries();
    const std::uint32_t peer = random() % 2 == 0 ? 2 : 3;
    NicNote note = note_of(static_cast<FrameSays>(1 + random() % 6), random() % 6, random() % 6);
    if (random() % 128 == 0) note.kind = static_cast<std::uint32_t>(number(random));
    if (random() % 16 == 0) note.id = number(random);
    if (random() % 16 == 0) note.other_id = number(random);
    note.tag = static_cast<std::int32_t>(random() % 16 == 0 ? number(random) : random() % 2);
    const bool is_coded = random() % 4 == 0;
    Bytes bytes = is_coded ? plain_of(codec_, 1 + random() % 500) : Bytes(random() % 2000);
    if (is_coded && random() % 32 == 0) mutate(bytes, random);
    note.size_bytes = random() % 16 == 0 ? number(random) : bytes.size();
    ++outcome.inputs;
    agent_.bring(random, peer, note, bytes, is_coded ? NicCoding::plain : NicCoding::none);
    agent_.tell(random, peer);
    std::array<Completion, 8> done;
    const auto count = traffic_->poll(finished_, done);
    if (!count.ok()) {
        traffic_ = nullptr;
        return;
    }
    ++outcome.taken;
    for (std::size_t i = 0; i < *count; ++i) {
        promise(done[i].cookie < messages_.size(), "a message that nobody has started");
        Message& message = messages_[done[i].cookie];
        promise(message.is_under_way, "a message that has ended");
        promise(!message.is_receive || !done[i].status.ok() ||
                    done[i].received_bytes <= message.size_bytes,
                "more than was asked for");
        message.is_under_way = false;
    }
}

// ---- sums

ToSumsOfRankInput::ToSumsOfRankInput()
    : codec_(codec_for(CodecId::int8, ElementType::f32).value()),
      detour_(std::make_unique<FuzzedDetour>()) {}

void ToSumsOfRankInput::renew() {
    sums_ = nullptr;
    frames_ =
        std::make_unique<FramePipe>(agent_.meet(), 0, std::vector<std::uint32_t>{2, 3}, *detour_);
    sums_ = std::make_unique<NicSums>(*frames_, 0);
}

void ToSumsOfRankInput::begin(Random& random) {
    if (sums_ == nullptr) renew();
    request_ = {};
    request_.count = 1 + random() % 200'000;
    vector_ = std::make_unique<std::byte[]>(request_.count * sizeof(float));
    request_.input = request_.output = vector_.get();
    request_.codec = random() % 2 == 0 ? &codec_ : nullptr;
    sums_->begin(request_);
}

void ToSumsOfRankInput::run(Random& random, Outcome& outcome) {
    if (sums_ == nullptr || sums_->is_over()) begin(random);
    agent_.read_entries();
    const std::size_t slot = fuzzed_shape().slot_bytes;
    const std::size_t most =
        request_.codec != nullptr ? coded_frame_elems(codec_, slot) : slot / sizeof(float);
    const std::uint64_t pieces = (request_.count + most - 1) / most;
    const std::size_t count = std::min(most, request_.count - sums_->pieces_done() * most);
    Bytes bytes =
        request_.codec != nullptr ? plain_of(codec_, count) : Bytes(count * sizeof(float));
    if (random() % 16 == 0) mutate(bytes, random);
    ++outcome.inputs;
    agent_.bring(random, 0, note_of(SumKind{}, number(random), 1000), bytes,
                 request_.codec != nullptr ? NicCoding::plain : NicCoding::none);
    agent_.tell(random, 0);
    const bool looked = frames_->look(static_cast<unsigned>(random() % 4)).ok();
    (void)sums_->progress();
    promise(sums_->pieces_done() <= pieces, "more pieces than there are");
    const bool failed = !looked || (sums_->is_over() && sums_->pieces_done() < pieces);
    if (!failed) ++outcome.taken;
    if (!failed && !sums_->is_over()) return;
    promise(sums_->give_back_behind(random() % 12) <= request_.count, "more than there is");
    if (failed) sums_ = nullptr;
}

}  // namespace gradcoll
