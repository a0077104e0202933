// tests/tools/facts_test.cpp - what the library says of itself agrees with the tables and parsers
// that decide. MPI is not started.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "base/options.hpp"
#include "collectives/build/builder.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/exchange/exchange.hpp"
#include "compress/codec_id.hpp"
#include "gradcoll/gradcoll.h"
#include "mpi/mpi_identity.hpp"
#include "settings/setting_table.hpp"
#include "topology/sources/job/written.hpp"
#include "topology/tree.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

std::vector<GC_List_entry> list_of(GC_List list) {
    int size = -1;
    EXPECT_EQ(GC_Get_list_size(list, &size), MPI_SUCCESS);
    std::vector<GC_List_entry> entries(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i)
        EXPECT_EQ(GC_Get_list_entry(list, i, &entries[static_cast<std::size_t>(i)]), MPI_SUCCESS);
    return entries;
}

/// Returns a list of any number, as a C program may pass it.
GC_List list_of_number(int number) {
    GC_List list;
    static_assert(sizeof list == sizeof number);
    std::memcpy(&list, &number, sizeof list);
    return list;
}

std::string last_message(int code) {
    char text[GC_MAX_ERROR_STRING];
    GC_Error_string(code, text, nullptr);
    return text;
}

TEST(Facts, EveryCodecIsToldByTheNameThatTheParserTakes) {
    const auto codecs = list_of(GC_LIST_CODECS);
    ASSERT_EQ(codecs.size(), all_codecs().size());
    for (const CodecId id : all_codecs()) {
        const GC_List_entry& entry = codecs[index_of(id)];
        const auto codec = codec_from_name(entry.name);
        ASSERT_TRUE(codec.ok()) << entry.name;
        EXPECT_EQ(*codec, id);
        EXPECT_EQ(std::string(entry.text).find('\n'), std::string::npos) << entry.text;
    }
    EXPECT_NE(std::string(codecs[2].text).find("keeps the 2 largest magnitudes of every 4"),
              std::string::npos)
        << codecs[2].text;
}

TEST(Facts, EveryExchangeCanBeWishedFor) {
    std::set<ExchangeWish> wishes;
    for (const GC_List_entry& entry : list_of(GC_LIST_EXCHANGES)) {
        const auto wish = level_exchanges_from(entry.name);
        ASSERT_TRUE(wish.ok()) << entry.name;
        EXPECT_STRNE(entry.text, "") << entry.name;
        wishes.insert(wish->front());
    }
    EXPECT_EQ(wishes.size(), exchange_table().size() + 1);
    for (const ExchangeRow* row : exchange_table()) EXPECT_TRUE(wishes.contains(row->number));
    EXPECT_TRUE(wishes.contains(Exchange::single));
}

TEST(Facts, EveryBuilderCanBeNamed) {
    const auto entries = list_of(GC_LIST_BUILDERS);
    ASSERT_EQ(entries.size(), builder_table().size());
    EXPECT_STREQ(entries.front().name, info_of(OptionId::builder).default_value.data());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto builder = builder_from_name(entries[i].name);
        ASSERT_TRUE(builder.ok()) << entries[i].name;
        EXPECT_EQ(*builder, builder_table()[i]->number);
        EXPECT_STRNE(entries[i].text, "") << entries[i].name;
    }
}

TEST(Facts, EveryLevelIsAKindOfVertex) {
    std::set<VertexKind> kinds;
    for (const GC_List_entry& entry : list_of(GC_LIST_LEVELS)) {
        const auto kind = vertex_kind_from(entry.name);
        ASSERT_TRUE(kind.ok()) << entry.name;
        kinds.insert(*kind);
    }
    EXPECT_EQ(kinds.size(), static_cast<std::size_t>(VertexKind::group) + 1);
}

TEST(Facts, EveryTreeSourceIsReadAsAFormOfItsOwn) {
    std::set<std::set<const SourceRow*>> forms;
    std::set<const SourceRow*> wholes;
    const auto entries = list_of(GC_LIST_TREE_SOURCES);
    for (const GC_List_entry& entry : entries) {
        const auto source = written_source(entry.name);
        ASSERT_TRUE(source.ok()) << source.status().message();
        std::set<const SourceRow*> rows;
        for (const WrittenPart& part : source->parts) rows.insert(part.row);
        forms.insert(rows);
        const WrittenPart* whole = source->part(Part::whole);
        wholes.insert(whole ? whole->row : nullptr);
    }
    const auto is_whole = [](const SourceRow& row) { return row.part == Part::whole; };
    const auto& table = source_table();
    EXPECT_EQ(forms.size(), entries.size());
    EXPECT_EQ(wholes.size(),  // one more: no whole tree is written
              static_cast<std::size_t>(std::count_if(table.begin(), table.end(), is_whole)) + 1);
}

TEST(Facts, EveryTransportIsToldByTheNameThatTheParserTakes) {
    const auto entries = list_of(GC_LIST_TRANSPORTS);
    ASSERT_EQ(entries.size(), transport_table().size());
    for (const GC_List_entry& entry : entries) {
        const auto choice = TransportChoice::parse(entry.name);
        ASSERT_TRUE(choice.ok()) << entry.name;
        for (const GC_List_entry& other : entries)
            EXPECT_EQ(choice->allows(other.name), std::string(other.name) == entry.name);
    }
}

TEST(Facts, SettingsAreTheRowsOfTheTableWithTheirParts) {
    int count = 0;
    ASSERT_EQ(GC_Get_setting_count(&count), MPI_SUCCESS);
    int at = 0;
    for (const OptionInfo& row : option_table()) {
        if (is_part(row)) continue;
        GC_Setting setting{};
        ASSERT_EQ(GC_Get_setting(at++, &setting), MPI_SUCCESS);
        EXPECT_EQ(setting.variable, row.variable);
        EXPECT_EQ(setting.info_key, row.info_key);
        EXPECT_EQ(setting.default_value, row.default_value);
        EXPECT_EQ(setting.allowed, allowed_with_parts(row.id));
        EXPECT_EQ(setting.help, help_with_parts(row.id));
    }
    EXPECT_EQ(count, at);
}

TEST(Facts, TheBuildIsTheOneThatThisProgramSees) {
    GC_Build build{};
    ASSERT_EQ(GC_Get_build(&build), MPI_SUCCESS);
    int major = -1;
    GC_Get_version(&major, nullptr, nullptr);
    EXPECT_EQ(std::string(build.version).substr(0, 2), std::to_string(major) + ".");
    EXPECT_EQ(build.mpi_matches, 1) << build.mpi_built << " but " << build.mpi_seen;
    EXPECT_EQ(mpi_library_text(), build.mpi_text);
    EXPECT_EQ(std::string(build.cpu_found).find("scalar"), 0U);
    EXPECT_NE(std::string(build.cpu_found).find(build.cpu_reduce), std::string::npos);
    EXPECT_NE(std::string(build.compiler), "");
}

TEST(Facts, DevicesAreThoseOfThePluginThatIsNamed) {
    const auto entries = list_of(GC_LIST_DEVICES);
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_STREQ(entries[0].name, "emulated");
    EXPECT_STREQ(entries[0].text, "active");
    EXPECT_STREQ(entries[1].name, "0");
    EXPECT_STREQ(entries[1].text, "emulated device 0, PCI 0000:e0:00.0");
    EXPECT_STREQ(entries[2].name, "1");
    EXPECT_STREQ(entries[2].text, "emulated device 1, PCI 0000:e1:00.0");
}

TEST(Facts, ImpossibleQuestionsAreRefusedWithoutMpi) {
    GC_Setting setting{};
    GC_List_entry entry{};
    int size = 0;
    EXPECT_EQ(GC_Get_setting(-1, &setting), MPI_ERR_ARG);
    EXPECT_NE(last_message(MPI_ERR_ARG).find("index is -1"), std::string::npos);
    EXPECT_EQ(GC_Get_setting(1000, &setting), MPI_ERR_ARG);
    EXPECT_EQ(GC_Get_setting(0, nullptr), MPI_ERR_ARG);
    EXPECT_EQ(GC_Get_build(nullptr), MPI_ERR_ARG);
    EXPECT_EQ(GC_Get_list_size(list_of_number(9), &size), MPI_ERR_ARG);
    EXPECT_NE(last_message(MPI_ERR_ARG).find("list is 9"), std::string::npos);
    EXPECT_EQ(GC_Get_list_entry(GC_LIST_CODECS, static_cast<int>(all_codecs().size()), &entry),
              MPI_ERR_ARG);
    EXPECT_EQ(GC_Predict_tree(2, "treee", GC_TREE_TEXT, nullptr, nullptr), MPI_ERR_ARG);
    EXPECT_NE(last_message(MPI_ERR_ARG).find("treee"), std::string::npos);
}

TEST(Facts, ATextThatDoesNotFitSaysHowLongItIs) {
    std::size_t length = 3;
    char text[32] = "untouched";
    EXPECT_EQ(GC_Predict_tree(4, "flat", GC_TREE_EXPRESSION, text, &length), MPI_ERR_ARG);
    EXPECT_EQ(length, sizeof "(0-3)");
    EXPECT_STREQ(text, "untouched");
    EXPECT_EQ(GC_Predict_tree(4, "flat", GC_TREE_EXPRESSION, text, &length), MPI_SUCCESS);
    EXPECT_STREQ(text, "(0-3)");
}

TEST(MpiIdentity, IsReadFromWhatLibrariesSayOfThemselves) {
    const auto read = [](const char* text) { return mpi_identity_from(text).text(); };
    EXPECT_EQ(read("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, May 26, 2022"),
              "Open MPI 4.1.4");
    EXPECT_EQ(read("Open MPI v5.0.0rc7, package: x"), "Open MPI 5.0.0");
    EXPECT_EQ(read("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr 7"), "MPICH 4.0.2");
    EXPECT_EQ(read("Intel(R) MPI Library 2021.11 for Linux* OS"), "Intel MPI 2021.11");
    EXPECT_EQ(read("MVAPICH2 Version      :\t2.3.7"), "MVAPICH2 2.3.7");
    EXPECT_EQ(read("Something else 1.0"), "an unknown MPI");
    EXPECT_EQ(read(""), "an unknown MPI");
}

TEST(MpiIdentity, FamilyAndMajorVersionOrMpichsAbiMustAgree) {
    const auto agree = [](const char* a, const char* b) {
        return are_compatible(mpi_identity_from(a), mpi_identity_from(b));
    };
    EXPECT_TRUE(agree("Open MPI v4.1.4", "Open MPI v4.0.0"));
    EXPECT_FALSE(agree("Open MPI v4.1.4", "Open MPI v5.0.1"));
    EXPECT_FALSE(agree("Open MPI v4.1.4", "MPICH Version: 4.1.4"));
    EXPECT_FALSE(agree("nothing", "nothing"));
    EXPECT_TRUE(agree("MPICH Version: 3.4a2", "MPI VERSION    : CRAY MPICH version 8.1.25.17"));
    EXPECT_TRUE(agree("MPICH Version: 3.4.3", "MPICH Version: 5.0.2"));
    EXPECT_TRUE(agree("MPICH Version: 5.0.2", "Intel(R) MPI Library 2021.19.0 for Linux* OS"));
    EXPECT_TRUE(agree("Intel(R) MPI Library 2021.19.0 for Linux* OS", "MPICH Version: 4.3.2"));
    EXPECT_FALSE(agree("Intel(R) MPI Library 2021.19.0 for Linux* OS", "Open MPI v4.1.4"));
}

}  // namespace
}  // namespace gradcoll
