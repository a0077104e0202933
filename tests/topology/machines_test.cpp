// tests/topology/machines_test.cpp - every recorded machine (tests/golden/topologies/hwloc) gives
// its golden tree: one rank on each core, in order.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "topology/dealt_host.hpp"
#include "topology/draw/draw.hpp"
#include "topology/random_tree.hpp"
#include "topology/sources/host/described_host.hpp"

namespace gradcoll {
namespace {

/// Returns a text such as "package numa cache core".
std::string kinds_of(const HostPath& path) {
    std::string kinds;
    for (const HostPath::Object& object : path.objects)
        kinds += (kinds.empty() ? "" : " ") + std::string(name_of(object.kind));
    return kinds;
}

/// Returns the objects above each core before chains collapse: "96 cores: package numa cache core".
std::string paths_text(const std::vector<HostPath>& cores) {
    std::string text;
    for (std::size_t i = 0; i < cores.size();) {
        std::size_t end = i;
        while (end < cores.size() && kinds_of(cores[end]) == kinds_of(cores[i])) ++end;
        text += std::to_string(end - i) + " cores: " + kinds_of(cores[i]) + "\n";
        i = end;
    }
    return text;
}

/// Returns how many objects of each kind there are in all.
std::string objects_text(const std::vector<HostPath>& cores) {
    std::vector<std::set<std::uint32_t>> seen(static_cast<std::size_t>(VertexKind::group) + 1);
    for (const HostPath& core : cores)
        for (const HostPath::Object& object : core.objects)
            seen[static_cast<std::size_t>(object.kind)].insert(object.index);
    std::string text;
    for (std::size_t kind = 0; kind < seen.size(); ++kind)
        if (!seen[kind].empty())
            text += (text.empty() ? "" : ", ") + std::to_string(seen[kind].size()) + " " +
                    std::string(name_of(static_cast<VertexKind>(kind)));
    return text + "\n";
}

/// Returns what one rank on each core of a recorded machine gives.
std::string text_of(const std::string& file) {
    std::vector<std::string> notes;
    const auto cores = cores_from_xml(test::golden_path(file), notes);
    if (!cores.ok()) return cores.status().message();
    std::vector<int> ranks(cores->size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const auto tree = Tree::make(dealt_host(cores->front().host_name, *cores, ranks));
    if (!tree.ok()) return tree.status().message();
    EXPECT_EQ(tree->rank_count(), static_cast<int>(cores->size()));
    return draw_text(*tree) + "\n" + paths_text(*cores) + objects_text(*cores) +
           fmt::format("{}", fmt::join(notes, "\n"));
}

class RecordedMachine : public testing::TestWithParam<std::string> {};

TEST_P(RecordedMachine, OneRankACoreDrawsTheGoldenTree) {
    test::expect_golden("trees/" + GetParam() + ".txt", text_of("hwloc/" + GetParam() + ".xml"));
}

/// Returns the names of the recorded machines in a folder.
std::vector<std::string> machines_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(test::golden_path(folder)))
        if (entry.path().extension() == ".xml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> recorded_machines() {
    return machines_in("hwloc");
}

INSTANTIATE_TEST_SUITE_P(Hwloc, RecordedMachine, testing::ValuesIn(recorded_machines()),
                         [](const auto& param_info) {
                             std::string name = param_info.param;
                             for (char& c : name)
                                 if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                             return name;
                         });

TEST(RecordedMachines, InOtherVersionsOfTheFormatAreTheSame) {
    for (const std::string folder : {"hwloc1", "hwloc3"}) {
        const std::vector<std::string> names = machines_in(folder);
        EXPECT_GE(names.size(), 4U) << folder;
        for (const std::string& name : names)
            test::expect_golden("trees/" + name + ".txt", text_of(folder + "/" + name + ".xml"));
    }
}

TEST(RecordedMachines, AreAllThere) {
    EXPECT_GE(recorded_machines().size(), 12U);
}

}  // namespace
}  // namespace gradcoll
