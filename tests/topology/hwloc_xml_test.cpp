// tests/topology/hwloc_xml_test.cpp - hwloc's files are checked before hwloc sees them.
#include "topology/sources/host/hwloc_xml.hpp"

#include <gtest/gtest.h>

#include "topology/random_tree.hpp"
#include "topology/sources/host/hwloc_objects.hpp"

namespace gradcoll {
namespace {

/// This machine has two PUs and one NUMA node.
const std::string machine =
    "<topology version=\"2.0\">\n"
    "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\""
    " complete_nodeset=\"0x1\">\n"
    "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" nodeset=\"0x1\"/>\n"
    "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\"/>\n"
    "<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" nodeset=\"0x1\"/>\n"
    "</object></topology>";

/// Returns the error for the machine above with one of its texts replaced.
std::string refusal_with(const std::string& text, const std::string& by) {
    std::string xml = machine;
    const std::size_t at = xml.find(text);
    EXPECT_NE(at, xml.npos) << text;
    xml.replace(at, text.size(), by);
    const Result<std::string> checked = checked_hwloc_xml(xml);
    return checked.ok() ? "accepted" : checked.status().message();
}

TEST(HwlocXml, WhatIsCheckedIsWrittenAnew) {
    const Result<std::string> checked = checked_hwloc_xml(machine);
    ASSERT_TRUE(checked.ok()) << checked.status().message();
    EXPECT_EQ(*checked_hwloc_xml(*checked), *checked);
    EXPECT_EQ(refusal_with("</object></topology>",
                           "<object type=\"Misc\"/><userdata/></object><distances2/></topology>"),
              "accepted");
}

TEST(HwlocXml, ContradictionsAreRefusedWithTheLine) {
    EXPECT_EQ(refusal_with("cpuset=\"0x2\"", "cpuset=\"0x1\""),
              "line 5: a PU whose cpuset is not its number");
    EXPECT_EQ(refusal_with("os_index=\"1\" cpuset=\"0x2\"", "os_index=\"0\" cpuset=\"0x1\""),
              "line 5: no CPUs, or some that the object beside it has, too");
    EXPECT_EQ(refusal_with("os_index=\"1\" cpuset=\"0x2\"", "os_index=\"2\" cpuset=\"0x4\""),
              "line 5: CPUs that the object above does not have");
    EXPECT_EQ(refusal_with("cpuset=\"0x2\"", ""),
              "line 5: cpuset is \"\", expected words such as 0x000000ff");
    EXPECT_EQ(refusal_with("cpuset=\"0x2\" nodeset=\"0x1\"", "cpuset=\"0x2\" nodeset=\"0x2\""),
              "line 5: NUMA nodes that the object above does not have");
    EXPECT_EQ(refusal_with("os_index=\"1\"", "os_index=\"4294967295\""),
              "line 5: a PU without a number below 65536");
    EXPECT_EQ(refusal_with("type=\"NUMANode\"", "type=\"Sofa\""), "line 3: hwloc has no \"Sofa\"");
    EXPECT_EQ(refusal_with("type=\"NUMANode\"", "type=\"Misc\""), "line 2: no NUMANode is there");
    EXPECT_EQ(refusal_with("version=\"2.0\"", "version=\"9\""),
              "line 1: found version 9, expected 1, 2.0 or 3.0");
    EXPECT_EQ(refusal_with("</object></topology>", ""), "line 5: Start-end tags mismatch");
}

/// Returns what hwloc gets to see of a machine with this in its outermost object.
std::string checked_version_3(const std::string& inside, const std::string& behind = "") {
    std::string xml = machine;
    xml.replace(xml.find("2.0"), 3, "3.0");
    xml.insert(xml.find("</object></topology>"), inside);
    xml.insert(xml.find("</topology>"), behind);
    const Result<std::string> checked = checked_hwloc_xml(xml);
    return checked.ok() ? *checked : checked.status().message();
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
}

TEST(HwlocXml, OfVersion3BitsOfSystemDevicesBecomeOneType) {
    const auto type_of = [](const char* bits) {
        const std::string xml = checked_version_3(
            "<object type=\"OSDev\" name=\"x\" osdev_type=\"" + std::string(bits) + "\"/>");
        const std::string key = "osdev_type=\"";
        return has(xml, key) ? xml.substr(xml.find(key) + key.size(), 1) : xml;
    };
    EXPECT_EQ(type_of("4"), "1");    // a GPU
    EXPECT_EQ(type_of("8"), "5");    // a coprocessor
    EXPECT_EQ(type_of("12"), "5");   // both
    EXPECT_EQ(type_of("48"), "3");   // an InfiniBand adapter, which is a network interface, too
    EXPECT_EQ(type_of("16"), "2");   // a network interface
    EXPECT_EQ(type_of("64"), "4");   // DMA
    EXPECT_EQ(type_of("3"), "0");    // memory that stores
    EXPECT_EQ(type_of("0"), "0");    // nothing
    EXPECT_EQ(type_of("128"), "0");  // a bit that hwloc 3.0 does not have
    const std::string expected = "\", expected 0, 1, 2, 3, 4, 5 (in version 3 the sum of its bits)";
    for (const std::string bits : {"-4", "", "4 ", "18446744073709551616"})
        EXPECT_EQ(type_of(bits.c_str()), "line 6: osdev_type is \"" + bits + expected);
}

TEST(HwlocXml, OfVersion3TheHostsNameIsThatOfTheTopology) {
    const std::string info = "<info name=\"HostName\" value=\"n7\"/>";
    const std::string xml = checked_version_3("", info);
    EXPECT_TRUE(has(xml, info.substr(0, info.size() - 2))) << xml;
    EXPECT_TRUE(has(xml, "version=\"2.0\""));
    EXPECT_EQ(checked_version_3("</object><object type=\"Machine\" cpuset=\"0x1\">", info),
              "line 2: several outermost objects");
}

const std::string sets_of_1 = " cpuset=\"0x1\" nodeset=\"0x1\"";
const std::string machine_of_version_1 =
    "<topology>\n<object type=\"System\" cpuset=\"0x3\" nodeset=\"0x1\" "
    "complete_nodeset=\"0x3\">\n<object type=\"NUMANode\" os_index=\"0\"" +
    sets_of_1 + " local_memory=\"9\">\n<object type=\"Socket\"" + sets_of_1 +
    "><object type=\"Cache\" depth=\"1\" cache_type=\"2\"" + sets_of_1 +
    "><object type=\"PU\" os_index=\"0\"" + sets_of_1 +
    "/></object></object></object>\n<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x2\" "
    "nodeset=\"0x0\" complete_nodeset=\"0x2\"><object type=\"PU\" os_index=\"1\" "
    "cpuset=\"0x2\"/></object></object></topology>";

TEST(HwlocXml, OfVersion1NodesBecomeGroupsWithTheirMemory) {
    const Result<std::string> checked = checked_hwloc_xml(machine_of_version_1);
    ASSERT_TRUE(checked.ok()) << checked.status().message();
    for (const char* type : {"Machine", "Group", "NUMANode", "Package", "L1iCache"})
        EXPECT_TRUE(has(*checked, "type=\"" + std::string(type) + "\"")) << type;
    EXPECT_TRUE(has(*checked, "local_memory=\"9\""));
    EXPECT_FALSE(has(*checked, "os_index=\"1\" local_memory"));
    EXPECT_EQ(checked->find("NUMANode"), checked->rfind("NUMANode")) << "node 1 has no memory";
    EXPECT_EQ(*checked_hwloc_xml(*checked), *checked);
}

TEST(HwlocXml, OfVersion1AMachineMayHaveNoNode) {
    const Result<std::string> checked = checked_hwloc_xml(
        "<topology version=\"1.0\"><object type=\"Machine\" cpuset=\"0x1\" local_memory=\"7\">"
        "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\"/></object></topology>");
    ASSERT_TRUE(checked.ok()) << checked.status().message();
    EXPECT_TRUE(has(*checked, "type=\"NUMANode\" cpuset=\"0x1\""));
}

TEST(HwlocXml, OfVersion1ContradictionsAreRefusedWithTheLine) {
    const auto refusal = [](const std::string& text, const std::string& by) {
        std::string xml = machine_of_version_1;
        xml.replace(xml.find(text), text.size(), by);
        const Result<std::string> checked = checked_hwloc_xml(xml);
        return checked.ok() ? "accepted" : checked.status().message();
    };
    EXPECT_EQ(refusal("os_index=\"0\" cpuset", "os_index=\"5\" cpuset"),
              "line 3: a NUMANode whose nodeset is not its number");
    EXPECT_EQ(refusal("depth=\"1\"", "depth=\"17\""), "line 4: hwloc has no \"L17iCache\"");
    EXPECT_EQ(refusal("nodeset=\"0x0\"", "nodeset=\"x\"").substr(0, 7), "line 5:");
    EXPECT_EQ(refusal("\"0x2\"><object", "\"0x4\"><object").substr(0, 7), "line 5:");
    EXPECT_EQ(refusal("\"Socket\"", "\"System\""), "line 4: hwloc has no \"System\"");
}

TEST(HwlocXml, MemoryMayBeWithoutCpus) {
    const std::string two_nodes = "nodeset=\"0x3\" complete_nodeset=\"0x3\">";
    const auto with = [&](const std::string& object) {
        std::string xml = machine;
        xml.replace(xml.find("nodeset=\"0x1\""), std::string("nodeset=\"0x1\"").size(), two_nodes);
        xml.erase(xml.find(two_nodes) + two_nodes.size(),
                  std::string(" complete_nodeset=\"0x1\">").size());
        xml.replace(xml.find("</object></topology>"), 0, object);
        const Result<std::string> checked = checked_hwloc_xml(xml);
        return checked.ok() ? "accepted" : checked.status().message();
    };
    const std::string node =
        "<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x0\" nodeset=\"0x2\"/>";
    const std::string sets = " cpuset=\"0x0\" nodeset=\"0x2\">";
    EXPECT_EQ(with("<object type=\"Group\"" + sets + node + "</object>"), "accepted");
    EXPECT_EQ(with(node), "accepted");
    EXPECT_NE(with("<object type=\"Package\"" + sets + node + "</object>").find("no CPUs"),
              std::string::npos);
    EXPECT_NE(with("<object type=\"Group\"" + sets +
                   "<object type=\"PU\" os_index=\"2\" cpuset=\"0x4\" nodeset=\"0x2\"/></object>")
                  .find("CPUs that the object above does not have"),
              std::string::npos);
}

TEST(HwlocXml, DepthIsBounded) {
    std::string inside;
    for (int i = 0; i < 200; ++i)
        inside += "<object type=\"Group\" cpuset=\"0x1\" nodeset=\"0x1\">";
    for (int i = 0; i < 200; ++i) inside += "</object>";
    EXPECT_NE(
        refusal_with("<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" nodeset=\"0x1\"/>", inside)
            .find("more than 128 objects within each other"),
        std::string::npos);
}

Bitmap only(unsigned bit) {
    Bitmap set = new_bitmap();
    hwloc_bitmap_only(set.get(), bit);
    return set;
}

bool is_within(const Bitmap& set, const char* other) {
    return hwloc_bitmap_isincluded(set.get(), bitmap_from(other).get()) != 0;
}

TEST(Bitmap, ReadsHwlocsWords) {
    EXPECT_TRUE(
        hwloc_bitmap_isequal(bitmap_from("0x3").get(), bitmap_from("0x0,,0x00000003").get()));
    EXPECT_TRUE(hwloc_bitmap_isequal(only(33).get(), bitmap_from("0x2,0x0").get()));
    EXPECT_TRUE(is_within(only(33), "0xf...f,0x0"));
    EXPECT_FALSE(is_within(only(31), "0xf...f,0x0"));
    EXPECT_TRUE(hwloc_bitmap_intersects(bitmap_from("0xf...f").get(), only(65535).get()));
    EXPECT_TRUE(hwloc_bitmap_iszero(bitmap_from("0x0,,0x0").get()));
    for (const char* text : {"", "3", "0x", "0x123456789", "0x1,0xf...f", "0xg", "0x1 ", "0x1,",
                             "0xf...f,", "0xf...f0x1", ",0x1"})
        EXPECT_FALSE(bitmap_from(text)) << text;
}

TEST(Bitmap, HasABoundedNumberOfWords) {
    std::string words = "0x1";
    for (unsigned word = 1; word < max_bitmap_bits / 32; ++word) words += ",";
    EXPECT_TRUE(hwloc_bitmap_isequal(bitmap_from((words + "0x0").c_str()).get(),
                                     only(max_bitmap_bits - 32).get()));
    EXPECT_FALSE(bitmap_from((words + ",0x0").c_str()));
}

}  // namespace
}  // namespace gradcoll
