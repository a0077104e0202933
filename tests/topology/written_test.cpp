// tests/topology/written_test.cpp - the forms of GC_TOPOLOGY and the hosts file.
#include "topology/sources/job/written.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "topology/random_tree.hpp"
#include "topology/sources/host/hosts_file.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

WrittenSource source_of(const std::string& text) {
    const Result<WrittenSource> source = written_source(text);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? *source : WrittenSource{};
}

/// Returns the source of that part, such as "hwloc" or "json"; "-" if there is none.
std::string word_of(const WrittenSource& source, Part part) {
    const WrittenPart* written = source.part(part);
    return written ? std::string(written->row->word) : "-";
}
std::string whole(const WrittenSource& source) {
    return word_of(source, Part::whole);
}
std::string inside(const WrittenSource& source) {
    return word_of(source, Part::inside);
}
std::string between(const WrittenSource& source) {
    return word_of(source, Part::between);
}

std::string value_of(const std::string& text, Part part) {
    const WrittenSource source = source_of(text);
    return source.part(part) ? source.part(part)->value : "-";
}

std::string error_of(const std::string& text) {
    const Result<WrittenSource> source = written_source(text);
    return source.ok() ? "none" : source.status().message();
}

TEST(Written, WholeTreesAreKnownByTheirBeginningOrEnding) {
    EXPECT_EQ(whole(source_of("flat")), "flat");
    EXPECT_EQ(whole(source_of(" ((0 1) 2)")), "expression");
    EXPECT_EQ(whole(source_of("0")), "expression");
    EXPECT_EQ(whole(source_of("host:a(0 1)")), "expression");
    EXPECT_EQ(whole(source_of("json:tree")), "json");
    EXPECT_EQ(whole(source_of("/etc/tree.json")), "json");
    EXPECT_EQ(whole(source_of("file:/etc/tree")), "file");
    EXPECT_EQ(value_of("json: tree ", Part::whole), "tree");
}

TEST(Written, OneWordForTheMachineItselfIsDiscoveredAndNothingElse) {
    for (const char* text : {"", " ", "auto", " discover ", "hwloc\n"})
        EXPECT_TRUE(is_discovered(text)) << text;
    for (const char* text : {"hwloc+none", "hwloc+auto", "none", "flat", "slurm", "0", "Auto"})
        EXPECT_FALSE(is_discovered(text)) << text;
}

TEST(Written, WithoutAnythingWrittenHostsAreAskedAndSlurmsAddressesRead) {
    for (const char* text : {"", "auto", "  discover\n"}) {
        const WrittenSource source = source_of(text);
        EXPECT_EQ(whole(source), "-") << text;
        EXPECT_EQ(inside(source), "hwloc") << text;
        EXPECT_EQ(between(source), "auto") << text;
        EXPECT_EQ(source.origin, "") << text;
    }
}

struct Combination {
    const char* text;
    const char* inside;
    const char* inside_value;
    const char* between;
    const char* between_value;
};

TEST(Written, InsideAndBetweenStandAloneOrTogether) {
    const std::vector<Combination> all{
        {"hwloc", "hwloc", "", "none", ""},
        {"synthetic:pack:2 core:2", "synthetic", "pack:2 core:2", "none", ""},
        {"xml:a.xml", "xml", "a.xml", "none", ""},
        {"hosts:h", "hosts", "h", "none", ""},
        {"nccl:n.xml", "nccl", "n.xml", "none", ""},
        {"none", "hwloc", "", "none", ""},
        {"slurm", "hwloc", "", "slurm", ""},
        {"probe", "hwloc", "", "probe", ""},
        {"probe:/tmp/c", "hwloc", "", "probe", "/tmp/c"},
        {"hwloc+auto", "hwloc", "", "auto", ""},
        {"xml:a.xml + slurm", "xml", "a.xml", "slurm", ""},
        {"file:a+file:b", "file", "a", "file", "b"},
        {"hosts:d+probe:c", "hosts", "d", "probe", "c"}};
    for (const Combination& wanted : all) {
        const WrittenSource source = source_of(wanted.text);
        EXPECT_EQ(whole(source), "-") << wanted.text;
        EXPECT_EQ(inside(source), wanted.inside) << wanted.text;
        EXPECT_EQ(value_of(wanted.text, Part::inside), wanted.inside_value) << wanted.text;
        EXPECT_EQ(between(source), wanted.between) << wanted.text;
        EXPECT_EQ(value_of(wanted.text, Part::between), wanted.between_value) << wanted.text;
        EXPECT_EQ(source.origin, std::string("GC_TOPOLOGY ") + wanted.text);
    }
}

TEST(Written, PathsMayHoldAPlus) {
    EXPECT_EQ(value_of("xml:/a+b/c+slurm.xml", Part::inside), "/a+b/c+slurm.xml");
    EXPECT_EQ(value_of("probe:/a+b", Part::between), "/a+b");
    EXPECT_EQ(value_of("hosts:/n+m+file:/f+none/g", Part::inside), "/n+m");
    EXPECT_EQ(value_of("hosts:/n+m+file:/f+none/g", Part::between), "/f+none/g");
    EXPECT_EQ(value_of("json:/t+slurm", Part::whole), "/t+slurm");
}

TEST(Written, AnythingElseListsTheForms) {
    const std::string forms =
        "auto, flat, an expression such as ((0 1) (2 3 4)), json:FILE, file:PATH, or INSIDE, "
        "BETWEEN or INSIDE+BETWEEN, where INSIDE is hwloc, synthetic:STRING, xml:FILE, "
        "hosts:FILE-OR-FOLDER, gpus:PATH or nccl:FILE, and BETWEEN is none, auto, slurm, probe, "
        "probe:CACHE-FILE or file:FILE";
    EXPECT_EQ(error_of("flta"), "GC_TOPOLOGY \"flta\": expected " + forms);
    EXPECT_EQ(error_of("flat+slurm"),
              "GC_TOPOLOGY \"flat+slurm\": \"flat\" is no inside of hosts; allowed are " + forms);
    EXPECT_EQ(error_of("json:"), "GC_TOPOLOGY json:: nothing follows the colon");
    EXPECT_EQ(error_of("hwloc+file:"), "GC_TOPOLOGY hwloc+file:: nothing follows the colon");
    EXPECT_EQ(error_of("probe:"), "GC_TOPOLOGY probe:: nothing follows the colon");
    EXPECT_EQ(error_of("hosts"), "GC_TOPOLOGY hosts: hosts needs a value: hosts:FILE");
    EXPECT_EQ(error_of("synthetic+slurm"),
              "GC_TOPOLOGY synthetic+slurm: synthetic needs a value: synthetic:STRING");
    EXPECT_EQ(error_of("slurm:x"), "GC_TOPOLOGY slurm:x: slurm takes nothing after it");
    EXPECT_EQ(error_of("hwloc:x+none"), "GC_TOPOLOGY hwloc:x+none: hwloc takes nothing after it");
}

class Files : public testing::Test {
  protected:
    /// Makes a file of this test with that text.
    static std::string file(const std::string& name, const std::string& text) {
        const std::string path = testing::TempDir() + "gradcoll_written_" + name;
        std::ofstream(path) << text;
        return path;
    }
    static WrittenSource resolved_source(const std::string& text) {
        const Result<WrittenSource> source = resolved(source_of(text));
        EXPECT_TRUE(source.ok()) << source.status().message();
        return source.ok() ? *source : WrittenSource{};
    }
    static std::string resolve_error(const std::string& text) {
        const Result<WrittenSource> source = resolved(source_of(text));
        return source.ok() ? "none" : source.status().message();
    }
};

TEST_F(Files, AloneAreWhatTheyHold) {
    EXPECT_EQ(whole(resolved_source("file:" + test::golden_path("two_and_three.json"))), "json");
    EXPECT_EQ(inside(resolved_source("file:" + test::golden_path("hwloc/nvidiaDGX2.xml"))), "xml");
    EXPECT_EQ(inside(resolved_source("file:" + test::golden_path("nccl/ndv4-topo.xml"))), "nccl");
    EXPECT_EQ(inside(resolved_source("file:" + test::golden_path("hwloc"))), "hosts");
    const WrittenSource fabric =
        resolved_source("file:" + file("conf", "# s\nSwitchName=s Nodes=n[1-2]\n"));
    EXPECT_EQ(whole(fabric), "-");
    EXPECT_EQ(inside(fabric), "hwloc");
    EXPECT_EQ(between(fabric), "fabric");
    EXPECT_EQ(between(resolved_source("file:" + file("cache", "{\"gradcoll_probe\": 1}"))),
              "cache");
}

TEST_F(Files, XmlIsToldByItsFirstElement) {
    const std::string head = "<?xml version=\"1.0\"?>\n<!DOCTYPE a>\n<!-- <system> -->\n";
    EXPECT_EQ(inside(resolved_source("file:" + file("a.xml", head + "<topology version=\"2\">"))),
              "xml");
    EXPECT_EQ(inside(resolved_source("file:" + file("b.xml", head + "<system>"))), "nccl");
    for (const char* text : {"<a/>", "<", "<!--", "<!-- -->", "<?", "<topologyx>", "", "\x7f\x45"})
        EXPECT_NE(resolve_error("file:" + file("c.xml", text)).find("holds nothing that is known"),
                  std::string::npos)
            << text;
}

TEST_F(Files, BesideAnotherSourceMustFitTheirSide) {
    const std::string conf = file("conf2", "SwitchName=s Nodes=n[1-2]\n");
    const WrittenSource both =
        resolved_source("file:" + test::golden_path("nccl/ndv4-topo.xml") + "+file:" + conf);
    EXPECT_EQ(inside(both), "nccl");
    EXPECT_EQ(between(both), "fabric");
    const std::string first = "file:" + conf + "+none";
    EXPECT_EQ(
        resolve_error(first),
        "GC_TOPOLOGY " + first + ": \"" + conf +
            "\" holds switches; expected a folder of hosts' XML files, hwloc XML or NCCL XML");
    const std::string tree = test::golden_path("two_and_three.json");
    const std::string second = "hwloc+file:" + tree;
    EXPECT_EQ(resolve_error(second),
              "GC_TOPOLOGY " + second + ": \"" + tree +
                  "\" holds a whole tree in JSON; expected switches (SLURM's topology.conf or "
                  "topology.yaml, ibnetdiscover, netloc's ib-subnet, CSV of host,switch, MPICH "
                  "coordinates, a probe's cache), a folder of ib-subnet-*.txt");
    EXPECT_EQ(resolve_error("file:/nowhere/f"),
              "GC_TOPOLOGY file:/nowhere/f: file \"/nowhere/f\" cannot be read: No such file or "
              "directory");
}

/// Returns the tree of a job that is the whole world.
Result<Tree> tree_in_json(const std::string& path, int rank_count) {
    Job job;
    job.rank_count = rank_count;
    TreeDraft draft;
    const Status status = source_row(Part::whole, "json").make(path)->learn(job, draft);
    if (!status.ok()) return status;
    return *draft.whole;
}

TEST(Written, FilesThatCannotBeReadAreNamed) {
    const Status status = tree_in_json("/nowhere/t.json", 2).status();
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_EQ(status.message(),
              "file \"/nowhere/t.json\" cannot be read: No such file or directory");
    EXPECT_EQ(tree_in_json("/", 2).status().message(), "file \"/\" cannot be read: Is a directory");
}

TEST(Written, JsonFilesAreRead) {
    const Result<Tree> tree = tree_in_json(test::golden_path("two_and_three.json"), 5);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_EQ(expression_of(*tree), "((0 1)(2-4))");
}

TEST(HostsFile, NamedHostsComeBeforeTheStar) {
    const Result<HostsFile> hosts = HostsFile::parse(
        "# machines\n\n n1\tpack:2 core:4 \r\n* pu:8\nn2 x/n2.xml\nn3 /abs.xml", "/etc/hosts.gc");
    ASSERT_TRUE(hosts.ok()) << hosts.status().message();
    EXPECT_EQ(*hosts->description_of("n1"), "pack:2 core:4");
    EXPECT_EQ(*hosts->description_of("n2"), "/etc/x/n2.xml");
    EXPECT_EQ(*hosts->description_of("n3"), "/abs.xml");
    EXPECT_EQ(*hosts->description_of("n9"), "pu:8");
}

TEST(HostsFile, ErrorsNameFileAndLine) {
    EXPECT_EQ(HostsFile::parse("a pu:1\nb\n", "h").status().message(),
              "hosts file \"h\", line 2: host b has no synthetic string or XML file after it");
    EXPECT_EQ(HostsFile::parse("a pu:1\n\na pu:2\n", "h").status().message(),
              "hosts file \"h\", line 3: host a is described twice");
    EXPECT_EQ(HostsFile::parse("# none\n", "h").status().message(),
              "hosts file \"h\": it describes no host");
}

TEST(HostsFile, HostsAreFoundWithAndWithoutTheirDomain) {
    const Result<HostsFile> hosts =
        HostsFile::parse("n1 pu:1\nn2.a.org pu:2\nn3.a.org pu:3\nn3.b.org pu:4\n", "h");
    ASSERT_TRUE(hosts.ok()) << hosts.status().message();
    EXPECT_EQ(hosts->description_of("n1.a.org"), "pu:1");
    EXPECT_EQ(hosts->description_of("n2"), "pu:2");
    EXPECT_EQ(hosts->description_of("n2.b.org"), std::nullopt);  // it has a domain, so it is
                                                                 // another host
    EXPECT_EQ(hosts->description_of("n3"), std::nullopt);        // could be either
    EXPECT_EQ(hosts->description_of("n9"), std::nullopt);
    EXPECT_EQ(hosts->host_names().size(), 4u);
}

TEST(HostsFile, AFolderDescribesTheHostsThatItsXmlFilesAreNamedFor) {
    const Result<HostsFile> hosts = HostsFile::read(test::golden_path("hwloc"));
    ASSERT_TRUE(hosts.ok()) << hosts.status().message();
    EXPECT_EQ(hosts->description_of("nvidiaDGX2.cluster"),
              test::golden_path("hwloc/nvidiaDGX2.xml"));
    EXPECT_EQ(hosts->description_of("README"), std::nullopt);
    const std::string empty = testing::TempDir() + "gradcoll_no_hosts";
    std::filesystem::create_directories(empty);
    EXPECT_EQ(HostsFile::read(empty).status().message(),
              "hosts folder \"" + empty + "\": it holds no file that ends in .xml");
    EXPECT_EQ(HostsFile::read("/nowhere/h").status().message(),
              "file \"/nowhere/h\" cannot be read: No such file or directory");
}

}  // namespace
}  // namespace gradcoll
