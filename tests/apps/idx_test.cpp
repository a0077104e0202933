// apps.idx - the IDX reader with good, cut and lying files.
#include "idx.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <string>

namespace {

using namespace train;
using Bytes = std::vector<std::uint8_t>;

class IdxReader : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "gradcoll-idx-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path plain(const std::string& name, const Bytes& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        return folder_ / name;
    }
    std::filesystem::path gzipped(const std::string& name, const Bytes& bytes) const {
        const gzFile file = gzopen((folder_ / name).c_str(), "wb");
        gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
        gzclose(file);
        return folder_ / name;
    }
    std::string error_of(const Bytes& bytes) const {
        try {
            static_cast<void>(read_idx(plain("file", bytes)));
        } catch (const FileError& error) {
            return error.what();
        }
        return {};
    }
    std::string dataset_error() const {
        try {
            static_cast<void>(load_dataset(folder_, "train"));
        } catch (const FileError& error) {
            return error.what();
        }
        return {};
    }

    std::filesystem::path folder_;
};

const Bytes two_by_three = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
const Bytes two_pictures = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40};
const Bytes two_labels = {0, 0, 8, 1, 0, 0, 0, 2, 9, 0};

TEST_F(IdxReader, ReadsPlainAndGzippedFilesAlike) {
    for (const auto& path : {plain("a", two_by_three), gzipped("a.gz", two_by_three)}) {
        const IdxArray array = read_idx(path);
        EXPECT_EQ(array.dims, (std::vector<std::size_t>{2, 3}));
        EXPECT_EQ(array.values, (Bytes{1, 2, 3, 4, 5, 6}));
    }
}

TEST_F(IdxReader, EveryCutOfAFileIsAnError) {
    for (std::size_t length = 0; length < two_by_three.size(); ++length)
        EXPECT_NE(error_of({two_by_three.begin(),
                            two_by_three.begin() + static_cast<std::ptrdiff_t>(length)}),
                  "")
            << length;
}

TEST_F(IdxReader, CutGzipStreamIsAnError) {
    const auto path = gzipped("a.gz", two_by_three);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
    EXPECT_THROW(static_cast<void>(read_idx(path)), FileError);
}

TEST_F(IdxReader, NamesWhatIsWrong) {
    Bytes bytes = two_by_three;
    bytes[0] = 1;
    EXPECT_NE(error_of(bytes).find("not an IDX file"), std::string::npos);
    bytes = two_by_three;
    bytes[2] = 0x0d;
    EXPECT_NE(error_of(bytes).find("element type 0x0d"), std::string::npos);
    bytes = two_by_three;
    bytes[3] = 0;
    EXPECT_NE(error_of(bytes).find("0 dimensions"), std::string::npos);
    bytes = two_by_three;
    bytes[3] = 200;
    EXPECT_NE(error_of(bytes).find("200 dimensions"), std::string::npos);
    bytes = two_by_three;
    bytes.push_back(7);
    EXPECT_NE(error_of(bytes).find("after the last value"), std::string::npos);
}

TEST_F(IdxReader, HugeClaimedSizesAreRefusedBeforeMemoryIsTaken) {
    const Bytes four_giga_twice = {0, 0, 8, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    EXPECT_NE(error_of(four_giga_twice).find("claims more than"), std::string::npos);
    const Bytes below_the_limit_but_not_there = {0, 0, 8, 1, 0x3f, 0xff, 0xff, 0xff, 1};
    EXPECT_NE(error_of(below_the_limit_but_not_there).find("ends inside the values"),
              std::string::npos);
}

TEST_F(IdxReader, DatasetBringsPicturesAndLabelsTogether) {
    gzipped("train-images-idx3-ubyte.gz", two_pictures);
    plain("train-labels-idx1-ubyte", two_labels);
    const Dataset data = load_dataset(folder_, "train");
    EXPECT_EQ(data.count, 2U);
    EXPECT_EQ(data.features, 2U);
    EXPECT_EQ(data.pixels, (Bytes{10, 20, 30, 40}));
    EXPECT_EQ(data.labels, (Bytes{9, 0}));
}

TEST_F(IdxReader, MissingDatasetNamesThePackageToInstall) {
    EXPECT_NE(dataset_error().find("dataset-fashion-mnist"), std::string::npos);
}

TEST_F(IdxReader, DatasetRefusesLabelsThatDoNotFit) {
    plain("train-images-idx3-ubyte", two_pictures);
    plain("train-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3});
    EXPECT_NE(dataset_error().find("3 labels for 2 pictures"), std::string::npos);
    plain("train-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 2, 1, 10});
    EXPECT_NE(dataset_error().find("label 10 at 1"), std::string::npos);
    plain("train-images-idx3-ubyte", two_by_three);
    EXPECT_NE(dataset_error().find("2 dimensions"), std::string::npos);
}

}  // namespace
