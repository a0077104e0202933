// tests/topology/mutation_test.cpp - thousands of damaged inputs from fixed seeds: each is refused
// with a message, or read as a valid tree. The test finds most under the asan preset.
#include <gtest/gtest.h>

#include "topology/random_tree.hpp"
#include "topology/sources/host/described_host.hpp"
#include "topology/sources/host/hosts_file.hpp"
#include "topology/sources/job/reports.hpp"
#include "topology/sources/job/written.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using test::below;
using test::Random;

/// Makes one to four edits: a byte is changed, removed, doubled, inserted from `alphabet`, or a
/// piece is copied elsewhere.
std::string mutated(Random& random, std::string text, const std::string& alphabet) {
    for (int edits = 1 + below(random, 4); edits > 0; --edits) {
        if (text.empty()) text.push_back('x');
        const auto at = static_cast<std::size_t>(below(random, static_cast<int>(text.size())));
        const auto from = static_cast<std::size_t>(below(random, static_cast<int>(text.size())));
        const char any = static_cast<char>(below(random, 256));
        const char usual =
            alphabet[static_cast<std::size_t>(below(random, static_cast<int>(alphabet.size())))];
        switch (below(random, 6)) {
            case 0:
                text[at] = any;
                break;
            case 1:
                text[at] = usual;
                break;
            case 2:
                text.erase(at, 1 + static_cast<std::size_t>(below(random, 5)));
                break;
            case 3:
                text.insert(at, 1, usual);
                break;
            case 4:
                text.insert(at, text.substr(from, 12));
                break;
            default:
                text.resize(at);
        }
    }
    return text;
}

/// Returns how many of the inputs were read.
template <class Read, class Input>
int survivors(int rounds, Input input, Read read) {
    int accepted = 0;
    for (int i = 0; i < rounds; ++i) {
        const Result<Tree> tree = read(input());
        if (tree.ok()) {
            ++accepted;
            const std::string bytes = tree->serialize();
            const Result<Tree> back = Tree::deserialize(bytes);
            EXPECT_TRUE(back.ok() && back->serialize() == bytes);
        } else {
            EXPECT_FALSE(tree.status().message().empty());
        }
    }
    return accepted;
}

TEST(Mutation, OfExpressions) {
    Random random(31);
    const auto input = [&] {
        return mutated(random, expression_of(test::random_tree(random, 12)),
                       "() ,-0123456789:hostgpu\n");
    };
    const int accepted = survivors(
        20'000, input, [](const std::string& text) { return tree_from_expression(text, -1); });
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 20'000);
}

TEST(Mutation, OfNestedJson) {
    Random random(32);
    const auto input = [&] {
        return mutated(random, json_of(test::random_tree(random, 8)), "{}[]\",:0123456789.eE- ");
    };
    const int accepted =
        survivors(10'000, input, [](const std::string& text) { return tree_from_json(text, -1); });
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 10'000);
}

TEST(Mutation, OfFlatJson) {
    Random random(33);
    const std::string flat = test::file_bytes(test::golden_path("flat_list.json"));
    ASSERT_FALSE(flat.empty());
    const auto input = [&] { return mutated(random, flat, "{}[]\",:0123456789ab "); };
    const int accepted =
        survivors(10'000, input, [](const std::string& text) { return tree_from_json(text, -1); });
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 10'000);
}

TEST(Mutation, OfTreeBytes) {
    Random random(34);
    const auto input = [&] {
        return mutated(random, test::random_tree(random, 12).serialize(),
                       std::string(3, '\0') + "\x01\x02\x7f\xff");
    };
    const int accepted =
        survivors(20'000, input, [](const std::string& bytes) { return Tree::deserialize(bytes); });
    EXPECT_GT(accepted, 0);
    EXPECT_LT(accepted, 20'000);
}

TEST(Mutation, AcceptedTreeBytesAreCanonical) {
    Random random(35);
    for (int i = 0; i < 20'000; ++i) {
        const std::string bytes = mutated(random, test::random_tree(random, 6).serialize(),
                                          std::string(1, '\0') + "\x01\x02");
        const Result<Tree> tree = Tree::deserialize(bytes);
        if (tree.ok()) {
            ASSERT_EQ(tree->serialize(), bytes);
        }
    }
}

TEST(Mutation, OfHostPathBytes) {
    Random random(36);
    const HostPath path{"n1",
                        {{VertexKind::package, 0, "Package#0"},
                         {VertexKind::numa, 1, "NUMANode#1"},
                         {VertexKind::core, 7, "Core#7"}}};
    for (int i = 0; i < 20'000; ++i) {
        const std::string bytes =
            mutated(random, host_path_bytes(path), std::string(3, '\0') + "\x01\xff");
        const Result<HostPath> back = host_path_from(bytes);
        if (back.ok()) {
            ASSERT_EQ(host_path_bytes(*back), bytes);
        }
    }
}

// These strings have no [] of attached memory: hwloc 2.9 leaks a few bytes when it refuses a string
// that has them.
TEST(Mutation, OfSyntheticStrings) {
    Random random(37);
    int refused = 0;
    std::vector<std::string> notes;
    for (int i = 0; i < 500; ++i) {
        const std::string text =
            mutated(random, "pack:2 numa:1 l3:2 core:2 pu:1", "packore:123 ()");
        refused += cores_from_synthetic(text, notes).ok() ? 0 : 1;
    }
    EXPECT_GT(refused, 0);
}

TEST(Mutation, OfHostsFilesAndForms) {
    Random random(38);
    for (int i = 0; i < 20'000; ++i) {
        const Result<HostsFile> hosts =
            HostsFile::parse(mutated(random, "# c\nn1 pack:2 core:4\n* a.xml\n", "\n# *x"), "/h");
        if (hosts.ok()) {
            (void)hosts->description_of("n1").has_value();
        }
        (void)written_source(
            mutated(random, "hosts:a+probe:b", ":jsonxmlhostsflat.(0 +probefileslurm"))
            .ok();
    }
}

}  // namespace
}  // namespace gradcoll
