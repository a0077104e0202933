// train_fashion/idx.hpp - reads the IDX files of the MNIST family, plain or gzip-compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <vector>

namespace train {

/// FileError says that a file is missing, cut, cannot be written, or does not have the right
/// content; the text names it.
class FileError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// IdxArray is an array of unsigned bytes, the last dimension varying fastest.
struct IdxArray {
    std::vector<std::size_t> dims;
    std::vector<std::uint8_t> values;
};

/// Reads a whole file of element type "unsigned byte" with 1 to 4 dimensions. The file is not
/// trusted: sizes are checked before memory is allocated, and memory grows only with the bytes that
/// are really there. Throws FileError. Format: 0, 0, type (8), number of dimensions, then each
/// dimension as a big-endian 32-bit number, then the values (yann.lecun.com/exdb/mnist).
IdxArray read_idx(const std::filesystem::path& file);

/// A Dataset is labelled pictures: count x features pixels (0..255) and count labels.
struct Dataset {
    static constexpr std::size_t classes = 10;

    std::size_t count = 0;
    std::size_t features = 0;
    std::vector<std::uint8_t> pixels;
    std::vector<std::uint8_t> labels;
};

/// Reads `prefix`-images-idx3-ubyte[.gz] and `prefix`-labels-idx1-ubyte[.gz] of `folder`; `prefix`
/// is "train" or "t10k". Throws FileError, also if pictures and labels do not belong together.
Dataset load_dataset(const std::filesystem::path& folder, const char* prefix);

}  // namespace train
