#include "fuzz/runner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/descriptor.hpp"
#include "collectives/predict/tuning_file/tuning_file.hpp"
#include "engine/coordinator.hpp"
#include "engine/gradient_plan.hpp"
#include "fuzz/promises.hpp"
#include "report/live_page.hpp"
#include "runtime/notices.hpp"
#include "topology/probe/cache.hpp"
#include "topology/sources/job/discovered_tree.hpp"
#include "topology/sources/job/probe_request.hpp"
#include "topology/text.hpp"
#include "ways/learn/remembered_ways.hpp"

namespace gradcoll::fuzz {
namespace {

bool tuning(std::string_view text) {
    const auto read = tuning_from(text, "fuzz");
    if (!accepted(read.status(), text)) return false;
    const std::string written = text_of(*read);
    const auto again = tuning_from(written, "again");
    must(again.ok() && text_of(*again) == written, "a tuning reads back", text);
    return true;
}

bool probe_cache(std::string_view text) {
    static_cast<void>(is_probe_cache(text));
    const auto tree = switches_from_probe_cache(text);
    if (!accepted(tree.status(), text)) return false;
    const std::string written = probe_cache_text(*tree);
    const auto again = switches_from_probe_cache(written);
    must(again.ok() && probe_cache_text(*again) == written, "a cache reads back", text);
    return true;
}

bool kept_ways(std::string_view text) {
    const TriedWays ways = ways_from(text);
    must(ways_from(text_of(ways)) == ways, "ways read back", text);
    return ways != TriedWays{};
}

bool gradient_plan(std::string_view text) {
    const auto plan = GradientPlan::parse(text, "fuzz");
    if (!accepted(plan.status(), text)) return false;
    static_cast<void>(plan->find("layer1.weight"));
    return true;
}

// ---- records of other ranks

template <class Record>
std::string bytes_of(const Record& record) {
    ByteWriter writer;
    write(record, writer);
    return writer.take();
}

/// Reads records one after another, as rank 0 gets them from two members in turn, and the other
/// ranks' verdicts.
bool ready_records(std::string_view text) {
    Coordinator coordinator({{0, 1}, {1, 1}}, 4096);
    std::vector<Verdict> verdicts;
    ByteReader reader(text);
    Ready ready;
    for (std::size_t member = 0; reader.size_left() > 0; member = 1 - member) {
        if (!accepted(read(reader, ready), text)) return false;
        if (!accepted(coordinator.add(member, ready, 1000), text)) return false;
        while (coordinator.next(1 << 20, verdicts)) {
            must(!verdicts.empty(), "what begins has verdicts", text);
            for (const Verdict& verdict : verdicts) {
                Verdict again;
                const std::string bytes = bytes_of(verdict);
                ByteReader back(bytes);
                must(read(back, again).ok(), "verdicts read back", text);
            }
            coordinator.ended(verdicts.front().number);
        }
    }
    static_cast<void>(coordinator.stalls(1'000'000, 1000));
    return true;
}

bool verdict_records(std::string_view text) {
    ByteReader reader(text);
    while (reader.size_left() > 0) {
        Verdict verdict;
        if (!accepted(read(reader, verdict), text)) return false;
        must(verdict.name.size() <= most_name_bytes && verdict.error.size() <= most_error_bytes,
             "texts are no longer than may be", text);
    }
    return true;
}

bool discovery(std::string_view text) {
    const auto found = discovery_from(text);
    if (!found.ok()) return false;  // the message is the peer's own
    must(discovery_bytes(*found) == text, "there is one way to write what was found", text);
    return true;
}

bool probe_request(std::string_view text) {
    constexpr int ranks = 8;
    const auto request = probe_request_from(text, ranks);
    if (!accepted(request.status(), text)) return false;
    int least = 0;
    for (const ProbeHost& host : request->hosts) {
        must(least == 0 ? host.lowest_rank == 0 : host.lowest_rank >= least,
             "hosts follow each other from rank 0 on", text);
        must(host.lowest_rank < ranks, "ranks that measure are there", text);
        least = host.lowest_rank + 1;
    }
    must(probe_request_bytes(*request) == text, "there is one way to ask for a probe", text);
    return true;
}

/// Reads notices in place of a message of as many bytes, of a longer one, and ahead of one.
bool notices(std::string_view text) {
    std::array<std::byte, 64> bytes{};
    const std::size_t size = std::min(text.size(), bytes.size());
    std::memcpy(bytes.data(), text.data(), size);
    bool any = false;
    for (const std::size_t expected : {size, size + 1, std::size_t{1} << 20}) {
        const auto failure = FailureNotice::instead_of(expected, bytes.data(), size);
        if (failure) must_be_a_message(told(*failure).message(), text);
        any = any || failure || SignatureNotice::ahead_of(expected, bytes.data(), size);
    }
    return any;
}

// ---- pages of counters

bool live_page(std::string_view text) {
    static const std::string path =
        std::filesystem::temp_directory_path() / ("gradcoll-fuzz-page-" + std::to_string(getpid()));
    {
        const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        must(file.is_open() && ::write(file.number(), text.data(), text.size()) ==
                                   static_cast<ssize_t>(text.size()),
             "a file can be written", path);
    }
    const auto reading = read_live_page(path);
    unlink(path.c_str());
    if (!accepted(reading.status(), text)) return false;
    must(reading->facts.host.size() <= 64 && reading->facts.command.size() <= 256 &&
             reading->codec.size() <= 32,
         "texts end within the page", text);
    return true;
}

std::string kept_page() {
    const std::string folder =
        std::filesystem::temp_directory_path() / ("gradcoll-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const LiveFacts facts{4711, 77, 1234, 2, 5, "node7", "./train"};
    const auto page = LivePage::make(folder, facts).value();
    const std::string path = live_page_paths(folder).at(0);
    std::string bytes(std::filesystem::file_size(path), '\0');
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    must(::read(file.number(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
         "a page can be read", path);
    std::filesystem::remove_all(folder);
    return bytes;
}

// ---- seeds

SwitchTree kept_switches() {
    SwitchTree tree;
    tree.switches = {{"probed0", -1, {}}, {"probed1", 0, {0.5, 1.25}}, {"probed2", 0, {}}};
    tree.hosts["a"] = {2, {0, 0}};
    tree.hosts["b"] = {1, {1.5, 2}};
    tree.notes = {"two hosts"};
    return tree;
}

TriedWays some_ways() {
    TriedWays ways{};
    ways[10] = TriedWay::ours;
    ways[20] = TriedWay::other;
    return ways;
}

DiscoveredTree kept_discovery() {
    return {tree_from_expression("switch:s(host:a(0-1)@3/1 host:b(2 3))", -1).value(),
            "hwloc",
            {"a note"}};
}

std::vector<std::string_view> kept(std::initializer_list<std::string> texts) {
    static std::vector<std::vector<std::string>> all;
    all.emplace_back(texts);
    return {all.back().begin(), all.back().end()};
}

}  // namespace

std::vector<Target> files_targets() {
    static std::vector<std::vector<std::string_view>> seeds{
        kept({text_of(Tuning(), "a note"), R"({"message_us": 3, "cores": 4})",
              R"({"chunks": {}, "links": {}})", "{}"}),
        kept({probe_cache_text(kept_switches())}),
        kept({text_of(some_ways())}),
        kept({plan_text({{"conv[0]", "ring", "2:4", 3, false, 4096, 12.5, 13}, {"passed", "", ""}},
                        {}),
              R"({"gradcoll_engine_plan": 1, "gradients": [{"name": "*.bias", "codec": "exact",)"
              R"( "parts": 1}, {"name": "layer?.*", "codec": "exact,int8", "strategy": "ps"}]})"}),
        kept({bytes_of(Ready{unnumbered, -3, 4096, 77, 3, "layer.0", "1024 elements", 6, ""}) +
                  bytes_of(Ready{unnumbered, 2, 4096, 77, 3, "layer.0", "1024 elements", 1, ""}) +
                  bytes_of(Ready{0, 2, 4096, 77, 3, "", "", 0, ""}),
              bytes_of(Ready{unnumbered, 0, 8, 7, 0, "a", "8 elements", 0, "why"}) +
                  bytes_of(Ready{unnumbered, 0, 8, 8, 0, "a", "9 elements", 1, ""})}),
        kept(
            {bytes_of(Verdict{5, true, "name", "error", 0.5}) + bytes_of(Verdict{6, false, "", ""}),
             bytes_of(Verdict{0, false, "layer.0", ""})}),
        kept(
            {discovery_bytes(kept_discovery()), discovery_bytes(Status(Code::io, "no such file"))}),
        kept({std::string(reinterpret_cast<const char*>(FailureNotice({3, Code::io}).data()), 16),
              std::string(reinterpret_cast<const char*>(SignatureNotice(99).data()), 16)}),
        kept({kept_page()}),
        kept({probe_request_bytes({"/tmp/kept", "GC_TOPOLOGY probe", {{0, "n1"}, {4, "n2"}}}),
              probe_request_bytes({"", "GC_TOPOLOGY hwloc+probe", {{0, "a"}, {1, "b"}, {7, "c"}}}),
              // They are short, so that many mutations meet a rank.
              probe_request_bytes({"", "", {{0, ""}, {1, ""}, {2, ""}, {7, ""}}}),
              probe_request_bytes({})})};
    return {{"tuning", tuning, seeds[0]},
            {"cache of the probe", probe_cache, seeds[1]},
            {"kept ways", kept_ways, seeds[2]},
            {"plan of an engine", gradient_plan, seeds[3]},
            {"what ranks have ready", ready_records, seeds[4]},
            {"what begins", verdict_records, seeds[5]},
            {"what rank 0 found", discovery, seeds[6]},
            {"notices", notices, seeds[7]},
            {"page of counters", live_page, seeds[8]},
            {"what is to be measured", probe_request, seeds[9]}};
}

}  // namespace gradcoll::fuzz
