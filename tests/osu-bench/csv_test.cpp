// The CSV file that sweeps resume from.
#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include "writers/writers.hpp"

namespace gradcoll::bench {
namespace {

class CsvFile : public testing::Test {
  protected:
    CsvFile() { std::remove(path_.c_str()); }
    ~CsvFile() override { std::remove(path_.c_str()); }

    std::string text() const {
        std::stringstream all;
        all << std::ifstream(path_).rdbuf();
        return all.str();
    }

    const std::string path_ = testing::TempDir() + "gc_allreduce_csv_test.csv";
    const Columns columns_{
        {"name", std::string("a,\"b\"")}, {"n", std::int64_t{-3}}, {"x", 0.5}, {"none", {}}};
};

TEST_F(CsvFile, QuotesWhatNeedsItAndLeavesUnknownValuesEmpty) {
    CsvWriter(path_).write(columns_);
    EXPECT_EQ(text(), "name,n,x,none\n\"a,\"\"b\"\"\",-3,0.5,\n");
}

TEST_F(CsvFile, IsAppendedToUnderOneHeader) {
    CsvWriter(path_).write(columns_);
    CsvWriter(path_).write(
        {{"name", std::string("c")}, {"n", std::int64_t{1}}, {"x", 1.0}, {"none", {}}});
    EXPECT_EQ(text(), "name,n,x,none\n\"a,\"\"b\"\"\",-3,0.5,\nc,1,1,\n");
}

TEST_F(CsvFile, WithOtherColumnsIsRefusedAndLeftAlone) {
    std::ofstream(path_) << "other\n1\n";
    EXPECT_THROW(CsvWriter(path_).write(columns_), std::runtime_error);
    EXPECT_EQ(text(), "other\n1\n");
}

}  // namespace
}  // namespace gradcoll::bench
