// tests/topology/written_test.cpp - the forms of GC_TOPOLOGY and the hosts file.
#include "topology/sources/written.hpp"

#include <gtest/gtest.h>

#include "topology/random_tree.hpp"
#include "topology/sources/hosts_file.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

SourceForm form_of(const std::string& text) {
    const Result<WrittenSource> source = written_source(text);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source->form;
}

TEST(Written, EachFormIsKnownByItsBeginningOrEnding) {
    EXPECT_EQ(form_of(""), SourceForm::discover);
    EXPECT_EQ(form_of("  discover\n"), SourceForm::discover);
    EXPECT_EQ(form_of("flat"), SourceForm::flat);
    EXPECT_EQ(form_of(" ((0 1) 2)"), SourceForm::expression);
    EXPECT_EQ(form_of("0"), SourceForm::expression);
    EXPECT_EQ(form_of("host:a(0 1)"), SourceForm::expression);
    EXPECT_EQ(form_of("json:tree"), SourceForm::json);
    EXPECT_EQ(form_of("/etc/tree.json"), SourceForm::json);
    EXPECT_EQ(form_of("synthetic:pack:2 core:2"), SourceForm::synthetic);
    EXPECT_EQ(form_of("xml:a.xml"), SourceForm::xml);
    EXPECT_EQ(form_of("hosts:h"), SourceForm::hosts);
    EXPECT_EQ(written_source("json: tree ")->value, "tree");
}

TEST(Written, AnythingElseListsTheForms) {
    const Status status = written_source("flta").status();
    EXPECT_EQ(status.message(),
              "GC_TOPOLOGY \"flta\": expected an expression such as ((0 1) (2 3 4)), json:FILE, "
              "synthetic:STRING, xml:FILE, hosts:FILE, flat or discover");
    EXPECT_EQ(written_source("json:").status().message(),
              "GC_TOPOLOGY json:: nothing follows the colon");
}

TEST(Written, FilesThatCannotBeReadAreNamed) {
    const Status status = written_tree({SourceForm::json, "/nowhere/t.json", ""}, 2).status();
    EXPECT_EQ(status.code(), Code::io);
    EXPECT_EQ(status.message(),
              "file \"/nowhere/t.json\" cannot be read: No such file or directory");
    EXPECT_EQ(written_tree({SourceForm::json, "/", ""}, 2).status().message(),
              "file \"/\" cannot be read: Is a directory");
}

TEST(Written, JsonFilesAreRead) {
    const Result<Tree> tree =
        written_tree({SourceForm::json, test::golden_path("two_and_three.json"), ""}, 5);
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
    EXPECT_EQ(HostsFile::parse("a pu:1", "h")->description_of("b").status().message(),
              "hosts file \"h\": host b has no line, and there is no line for *");
}

}  // namespace
}  // namespace gradcoll
