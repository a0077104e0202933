// train_fashion/idx.cpp - reads IDX files; every number in a file is checked before it is used.
#include "idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

namespace train {
namespace {

constexpr std::size_t max_values_bytes = std::size_t{1} << 30;
constexpr std::size_t read_piece_bytes = std::size_t{1} << 20;
constexpr std::uint8_t type_unsigned_byte = 0x08;

/// InputFile is an open file that zlib reads, compressed or not.
class InputFile {
  public:
    explicit InputFile(std::filesystem::path path)
        : path_(std::move(path)), file_(gzopen(path_.c_str(), "rb"), &gzclose) {
        if (!file_) throw FileError(fmt::format("{}: cannot be opened", path_.string()));
    }

    /// Reads up to out.size() bytes; fewer only at the end of the file.
    std::size_t read_some(std::span<std::uint8_t> out) {
        const int got = gzread(file_.get(), out.data(), static_cast<unsigned>(out.size()));
        int code = Z_OK;
        const char* text = gzerror(file_.get(), &code);
        if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) fail(text);
        return static_cast<std::size_t>(got);
    }
    void read_all(std::span<std::uint8_t> out, const char* what) {
        const std::size_t got = read_some(out);
        if (got != out.size())
            fail(fmt::format("ends inside the {} ({} of {} bytes)", what, got, out.size()));
    }
    [[noreturn]] void fail(const std::string& why) const {
        throw FileError(fmt::format("{}: {}", path_.string(), why));
    }

  private:
    std::filesystem::path path_;
    std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::size_t read_dimension(InputFile& file) {
    std::array<std::uint8_t, 4> raw{};
    file.read_all(raw, "dimensions");
    std::size_t value = 0;
    for (const std::uint8_t byte : raw) value = value << 8 | byte;
    return value;
}

std::vector<std::size_t> read_header(InputFile& file) {
    std::array<std::uint8_t, 4> magic{};
    file.read_all(magic, "header");
    if (magic[0] != 0 || magic[1] != 0)
        file.fail("is not an IDX file (its first two bytes are not 0)");
    if (magic[2] != type_unsigned_byte)
        file.fail(
            fmt::format("has element type 0x{:02x}; only 0x08 (unsigned byte) is read", magic[2]));
    if (magic[3] < 1 || magic[3] > 4)
        file.fail(fmt::format("has {} dimensions; 1 to 4 are allowed", magic[3]));
    std::vector<std::size_t> dims(magic[3]);
    for (std::size_t& dim : dims) dim = read_dimension(file);
    return dims;
}

std::size_t checked_size(const InputFile& file, const std::vector<std::size_t>& dims) {
    std::size_t total = 1;
    for (const std::size_t dim : dims) {
        if (dim != 0 && total > max_values_bytes / dim)
            file.fail(fmt::format("claims more than {} bytes of values", max_values_bytes));
        total *= dim;
    }
    return total;
}

std::vector<std::uint8_t> read_values(InputFile& file, std::size_t total) {
    std::vector<std::uint8_t> values;
    while (values.size() < total) {
        const std::size_t before = values.size();
        values.resize(std::min(total, before + read_piece_bytes));
        file.read_all(std::span(values).subspan(before), "values");
    }
    std::uint8_t extra = 0;
    if (file.read_some({&extra, 1}) != 0) file.fail("has bytes after the last value");
    return values;
}

std::filesystem::path find_file(const std::filesystem::path& folder, const std::string& name) {
    for (const char* ending : {".gz", ""}) {
        const auto path = folder / (name + ending);
        if (std::error_code ignored; std::filesystem::is_regular_file(path, ignored)) return path;
    }
    throw FileError(
        fmt::format("no {}[.gz] in {}: install the Debian package dataset-fashion-mnist, or name "
                    "the folder that "
                    "holds the files with --data",
                    name, folder.string()));
}

void check_labels(const std::filesystem::path& file, const std::vector<std::uint8_t>& labels) {
    const auto bad = std::find_if(labels.begin(), labels.end(),
                                  [](std::uint8_t label) { return label >= Dataset::classes; });
    if (bad != labels.end())
        throw FileError(fmt::format("{}: label {} at {}; 0 to {} are allowed", file.string(), *bad,
                                    bad - labels.begin(), Dataset::classes - 1));
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path) {
    InputFile file(path);
    IdxArray array;
    array.dims = read_header(file);
    array.values = read_values(file, checked_size(file, array.dims));
    return array;
}

Dataset load_dataset(const std::filesystem::path& folder, const char* prefix) {
    const auto images_path = find_file(folder, fmt::format("{}-images-idx3-ubyte", prefix));
    const auto labels_path = find_file(folder, fmt::format("{}-labels-idx1-ubyte", prefix));
    IdxArray images = read_idx(images_path);
    IdxArray labels = read_idx(labels_path);
    if (images.dims.size() != 3 || images.values.empty())
        throw FileError(
            fmt::format("{}: has {} dimensions and {} bytes; count x rows x columns, none of "
                        "them 0, is needed",
                        images_path.string(), images.dims.size(), images.values.size()));
    if (labels.dims.size() != 1 || labels.dims[0] != images.dims[0])
        throw FileError(fmt::format("{}: has {} labels for {} pictures", labels_path.string(),
                                    labels.values.size(), images.dims[0]));
    check_labels(labels_path, labels.values);
    return {images.dims[0], images.dims[1] * images.dims[2], std::move(images.values),
            std::move(labels.values)};
}

}  // namespace train
