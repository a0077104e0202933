// tests/api/api_support.hpp - what the tests of the C API share: written trees, element types with
// their values, equality across ranks.
#pragma once

#include <gradcoll.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace gradcoll::test {

inline int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

/// Info is an info object with the keys given.
class Info {
  public:
    Info(std::initializer_list<std::pair<const char*, const char*>> entries) {
        MPI_Info_create(&info_);
        for (const auto& [key, value] : entries) MPI_Info_set(info_, key, value);
    }
    ~Info() { MPI_Info_free(&info_); }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    operator MPI_Info() const { return info_; }  // NOLINT: stands for the info

  private:
    MPI_Info info_ = MPI_INFO_NULL;
};

/// PlainComm is a duplicate of MPI_COMM_WORLD that returns errors as codes and that nobody has
/// attached. It is freed with the object.
class PlainComm {
  public:
    PlainComm() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~PlainComm() { MPI_Comm_free(&comm_); }
    PlainComm(const PlainComm&) = delete;
    PlainComm& operator=(const PlainComm&) = delete;

    operator MPI_Comm() const { return comm_; }  // NOLINT: stands for the communicator
    int rank() const { return rank_of(comm_); }
    int size() const { return size_of(comm_); }
    bool is_attached() const {
        return std::strcmp(stats().last_pass_reason, "the communicator is not attached") != 0;
    }
    GC_Stats stats() const {
        GC_Stats stats{};
        EXPECT_EQ(GC_Comm_get_stats(comm_, &stats), MPI_SUCCESS);
        return stats;
    }

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// OwnComm is a PlainComm with settings that the test chooses.
class OwnComm : public PlainComm {
  public:
    OwnComm() = default;
    /// Makes one with a tree, which short vectors take, too.
    explicit OwnComm(const std::string& tree) {
        EXPECT_EQ(GC_Comm_set_option(*this, "gc_topology", tree.c_str()), MPI_SUCCESS) << tree;
        set("gc_tree_min_bytes", "0");
        set("gc_compress_bytes", "0");
    }
    void set(const char* key, const char* value) const {
        EXPECT_EQ(GC_Comm_set_option(*this, key, value), MPI_SUCCESS) << key << '=' << value;
    }
};

/// Returns the class of an error, whose code may have a text of its own; a code below 0 stays as it
/// is.
inline int class_of(int code) {
    int error_class = code;
    if (code > 0) MPI_Error_class(code, &error_class);
    return error_class;
}

inline std::string error_text(int code) {
    char text[GC_MAX_ERROR_STRING];
    GC_Error_string(code, text, nullptr);
    return text;
}

/// Returns what GC_Explain_allreduce says of a sum, so that a test sees whether its settings are
/// used.
inline std::string explained_sum(MPI_Comm comm, std::size_t count, MPI_Datatype type) {
    std::string text(1 << 16, '\0');
    std::size_t length = text.size();
    const auto elements = static_cast<MPI_Count>(count);
    EXPECT_EQ(
        GC_Explain_allreduce(comm, elements, type, MPI_SUM, GC_EXPLAIN_TEXT, text.data(), &length),
        MPI_SUCCESS);
    text.resize(length - 1);
    return text;
}

/// Returns the line of each level of the tree in it, nearest the ranks first.
inline std::vector<std::string> levels_in(const std::string& explanation) {
    std::vector<std::string> levels;
    std::istringstream lines(explanation);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("  level " + std::to_string(levels.size()) + ": "))
            levels.push_back(line);
    return levels;
}

inline std::string ranks_from(int first, int end) {
    std::string text;
    for (int rank = first; rank < end; ++rank)
        text += (rank > first ? " " : "") + std::to_string(rank);
    return text;
}

/// Returns lopsided trees over n ranks: flat, all on one side, a chain, branches of 1 and the rest,
/// of a third and the rest, even and odd ranks, three levels with ranks beside branches, backwards.
inline std::vector<std::string> trees_for(int n) {
    if (n == 1) return {"flat"};
    if (n == 2) return {"flat", "(1 0)"};
    std::string even, odd, chain, backwards;
    for (int rank = 0; rank < n; ++rank) (rank % 2 == 0 ? even : odd) += " " + std::to_string(rank);
    for (int rank = 0; rank < n - 2; ++rank) chain += "(" + std::to_string(rank) + " ";
    chain += "(" + ranks_from(n - 2, n) + ")" + std::string(static_cast<std::size_t>(n - 2), ')');
    for (int rank = n - 1; rank >= 2; --rank) backwards += std::to_string(rank) + " ";
    const int third = std::max(1, n / 3);
    std::vector<std::string> trees = {
        "flat",
        chain,
        "(0 (" + ranks_from(1, n) + "))",
        "((" + ranks_from(0, third) + ") (" + ranks_from(third, n) + "))",
        "((" + even + ") (" + odd + "))",
        "((1 0) " + backwards + ")",
    };
    if (n >= 5) trees.push_back("(((0 1) 2) (3 4) " + ranks_from(5, n) + ")");
    if (n >= 7) trees.push_back("((0 (1 (2 3))) (4 5) ((6) " + ranks_from(7, n) + "))");
    return trees;
}

inline std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

/// Returns a value in (-1, 1), the same for one rank and index in every run.
inline double value_at(int rank, std::size_t index, std::uint64_t seed = 1) {
    const std::uint64_t bits =
        mix(seed * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(rank) * 1000003 + index);
    return static_cast<double>(static_cast<std::int64_t>(bits)) / 9223372036854775808.0;
}

template <class T>
std::vector<T> floats(int rank, std::size_t count, std::uint64_t seed = 1) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(value_at(rank, i, seed));
    return values;
}

template <class T>
std::vector<T> integers(int rank, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<T>(mix(i * 31 + static_cast<std::uint64_t>(rank)));
    return values;
}

/// Returns whether every rank has the same bytes.
inline bool same_on_all_ranks(const void* data, std::size_t size_bytes, MPI_Comm comm) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    std::uint64_t hash = 1469598103934665603ULL;
    for (std::size_t i = 0; i < size_bytes; ++i) hash = (hash ^ bytes[i]) * 1099511628211ULL;
    std::uint64_t bounds[2] = {hash, ~hash};
    MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_UINT64_T, MPI_MIN, comm);
    return bounds[0] == ~bounds[1];
}

template <class T>
bool same_on_all_ranks(const std::vector<T>& values, MPI_Comm comm) {
    return same_on_all_ranks(values.data(), values.size() * sizeof(T), comm);
}

inline float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
/// Converts values that bfloat16 has.
inline std::uint16_t to_bf16(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
/// Converts values that binary16 has as normal numbers: rebased exponent, shorter fraction.
inline std::uint16_t to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    constexpr std::uint32_t rebased = (127 - 15) << 23;
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) |
                                      ((bits & 0x7fffffffu) - rebased) >> 13);
}

}  // namespace gradcoll::test
