// tests/topology/written_test.cpp - the forms of GC_TOPOLOGY and the hosts file.
#include "topology/sources/job/written.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "topology/random_tree.hpp"
#include "topology/sources/host/hosts_file.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using Inside = InsideSource::Form;
using Between = BetweenSource::Form;

WrittenSource source_of(const std::string& text) {
    const Result<WrittenSource> source = written_source(text);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? *source : WrittenSource{};
}

SourceForm form_of(const std::string& text) {
    return source_of(text).form;
}

std::string error_of(const std::string& text) {
    const Result<WrittenSource> source = written_source(text);
    return source.ok() ? "none" : source.status().message();
}

TEST(Written, WholeTreesAreKnownByTheirBeginningOrEnding) {
    EXPECT_EQ(form_of("flat"), SourceForm::flat);
    EXPECT_EQ(form_of(" ((0 1) 2)"), SourceForm::expression);
    EXPECT_EQ(form_of("0"), SourceForm::expression);
    EXPECT_EQ(form_of("host:a(0 1)"), SourceForm::expression);
    EXPECT_EQ(form_of("json:tree"), SourceForm::json);
    EXPECT_EQ(form_of("/etc/tree.json"), SourceForm::json);
    EXPECT_EQ(form_of("file:/etc/tree"), SourceForm::file);
    EXPECT_EQ(source_of("json: tree ").value, "tree");
}

TEST(Written, WithoutAnythingWrittenHostsAreAskedAndSlurmsAddressesRead) {
    for (const char* text : {"", "auto", "  discover\n"}) {
        const WrittenSource source = source_of(text);
        EXPECT_EQ(source.form, SourceForm::machine) << text;
        EXPECT_EQ(source.inside.form, Inside::hwloc) << text;
        EXPECT_EQ(source.between.form, Between::automatic) << text;
        EXPECT_EQ(source.origin, "") << text;
    }
}

struct Combination {
    const char* text;
    Inside inside;
    const char* inside_value;
    Between between;
    const char* between_value;
};

TEST(Written, InsideAndBetweenStandAloneOrTogether) {
    const std::vector<Combination> all{
        {"hwloc", Inside::hwloc, "", Between::none, ""},
        {"synthetic:pack:2 core:2", Inside::synthetic, "pack:2 core:2", Between::none, ""},
        {"xml:a.xml", Inside::xml, "a.xml", Between::none, ""},
        {"hosts:h", Inside::hosts, "h", Between::none, ""},
        {"nccl:n.xml", Inside::nccl, "n.xml", Between::none, ""},
        {"none", Inside::hwloc, "", Between::none, ""},
        {"slurm", Inside::hwloc, "", Between::slurm, ""},
        {"probe", Inside::hwloc, "", Between::probe, ""},
        {"probe:/tmp/c", Inside::hwloc, "", Between::probe, "/tmp/c"},
        {"hwloc+auto", Inside::hwloc, "", Between::automatic, ""},
        {"xml:a.xml + slurm", Inside::xml, "a.xml", Between::slurm, ""},
        {"file:a+file:b", Inside::file, "a", Between::file, "b"},
        {"hosts:d+probe:c", Inside::hosts, "d", Between::probe, "c"}};
    for (const Combination& wanted : all) {
        const WrittenSource source = source_of(wanted.text);
        EXPECT_EQ(source.form, SourceForm::machine) << wanted.text;
        EXPECT_EQ(source.inside.form, wanted.inside) << wanted.text;
        EXPECT_EQ(source.inside.value, wanted.inside_value) << wanted.text;
        EXPECT_EQ(source.between.form, wanted.between) << wanted.text;
        EXPECT_EQ(source.between.value, wanted.between_value) << wanted.text;
        EXPECT_EQ(source.origin, std::string("GC_TOPOLOGY ") + wanted.text);
    }
}

TEST(Written, PathsMayHoldAPlus) {
    EXPECT_EQ(source_of("xml:/a+b/c+slurm.xml").inside.value, "/a+b/c+slurm.xml");
    EXPECT_EQ(source_of("probe:/a+b").between.value, "/a+b");
    const WrittenSource both = source_of("hosts:/n+m+file:/f+none/g");
    EXPECT_EQ(both.inside.value, "/n+m");
    EXPECT_EQ(both.between.value, "/f+none/g");
    EXPECT_EQ(source_of("json:/t+slurm").value, "/t+slurm");
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
    /// A file of this test with that text.
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
    EXPECT_EQ(resolved_source("file:" + test::golden_path("two_and_three.json")).form,
              SourceForm::json);
    EXPECT_EQ(resolved_source("file:" + test::golden_path("hwloc/nvidiaDGX2.xml")).inside.form,
              Inside::xml);
    EXPECT_EQ(resolved_source("file:" + test::golden_path("nccl/ndv4-topo.xml")).inside.form,
              Inside::nccl);
    EXPECT_EQ(resolved_source("file:" + test::golden_path("hwloc")).inside.form, Inside::hosts);
    const WrittenSource fabric =
        resolved_source("file:" + file("conf", "# s\nSwitchName=s Nodes=n[1-2]\n"));
    EXPECT_EQ(fabric.form, SourceForm::machine);
    EXPECT_EQ(fabric.inside.form, Inside::hwloc);
    EXPECT_EQ(fabric.between.form, Between::fabric);
    EXPECT_EQ(resolved_source("file:" + file("cache", "{\"gradcoll_probe\": 1}")).between.form,
              Between::cache);
}

TEST_F(Files, XmlIsToldByItsFirstElement) {
    const std::string head = "<?xml version=\"1.0\"?>\n<!DOCTYPE a>\n<!-- <system> -->\n";
    EXPECT_EQ(
        resolved_source("file:" + file("a.xml", head + "<topology version=\"2\">")).inside.form,
        Inside::xml);
    EXPECT_EQ(resolved_source("file:" + file("b.xml", head + "<system>")).inside.form,
              Inside::nccl);
    for (const char* text : {"<a/>", "<", "<!--", "<!-- -->", "<?", "<topologyx>", "", "\x7f\x45"})
        EXPECT_NE(resolve_error("file:" + file("c.xml", text)).find("holds nothing that is known"),
                  std::string::npos)
            << text;
}

TEST_F(Files, BesideAnotherSourceMustFitTheirSide) {
    const std::string conf = file("conf2", "SwitchName=s Nodes=n[1-2]\n");
    const WrittenSource both =
        resolved_source("file:" + test::golden_path("nccl/ndv4-topo.xml") + "+file:" + conf);
    EXPECT_EQ(both.inside.form, Inside::nccl);
    EXPECT_EQ(both.between.form, Between::fabric);
    const std::string inside = "file:" + conf + "+none";
    EXPECT_EQ(
        resolve_error(inside),
        "GC_TOPOLOGY " + inside + ": \"" + conf +
            "\" holds switches; expected a folder of hosts' XML files, hwloc XML or NCCL XML");
    const std::string tree = test::golden_path("two_and_three.json");
    const std::string between = "hwloc+file:" + tree;
    EXPECT_EQ(resolve_error(between),
              "GC_TOPOLOGY " + between + ": \"" + tree +
                  "\" holds a whole tree in JSON; expected switches (SLURM's topology.conf or "
                  "topology.yaml, ibnetdiscover, netloc's ib-subnet, CSV of host,switch, MPICH "
                  "coordinates, a probe's cache)");
    EXPECT_EQ(resolve_error("file:/nowhere/f"),
              "GC_TOPOLOGY file:/nowhere/f: file \"/nowhere/f\" cannot be read: No such file or "
              "directory");
}

WrittenSource json_source(const std::string& path) {
    return source_of("json:" + path);
}

TEST(Written, FilesThatCannotBeReadAreNamed) {
    const Status status = written_tree(json_source("/nowhere/t.json"), 2).status();
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_EQ(status.message(),
              "file \"/nowhere/t.json\" cannot be read: No such file or directory");
    EXPECT_EQ(written_tree(json_source("/"), 2).status().message(),
              "file \"/\" cannot be read: Is a directory");
}

TEST(Written, JsonFilesAreRead) {
    const Result<Tree> tree = written_tree(json_source(test::golden_path("two_and_three.json")), 5);
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
    EXPECT_EQ(hosts->description_of("n2.b.org"), std::nullopt);  // has a domain: is another one
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
