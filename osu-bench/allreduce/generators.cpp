// generators.cpp - makes random vectors of known distribution, and reads raw files.
#include "element.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>

namespace gradcoll::bench {
namespace {

constexpr std::string_view file_prefix = "file:";
constexpr double integer_scale = 100.0;

using Engine = std::mt19937_64;
using Draw = std::function<double(Engine&)>;

double draw_laplace(Engine& engine) {
    std::exponential_distribution<double> magnitude;
    const bool negative = (engine() & 1u) != 0;
    return negative ? -magnitude(engine) : magnitude(engine);
}

struct NamedDraw {
    std::string_view name;
    Draw (*make)();
    bool in_layers = false;  ///< whether blocks have scales of their own
};

const std::array draws = {
    NamedDraw{"gradient", [] { return Draw(draw_laplace); }, true},
    NamedDraw{"normal", [] { return Draw(std::normal_distribution<double>()); }},
    NamedDraw{"uniform", [] { return Draw(std::uniform_real_distribution<double>(-1.0, 1.0)); }},
    NamedDraw{"laplace", [] { return Draw(draw_laplace); }},
    NamedDraw{"t3", [] { return Draw(std::student_t_distribution<double>(3.0)); }},
    NamedDraw{"constant", [] { return Draw([](Engine&) { return 1.0; }); }},
};

const NamedDraw* find_draw(std::string_view name) {
    const auto found = std::find_if(draws.begin(), draws.end(),
                                    [&](const NamedDraw& d) { return d.name == name; });
    return found == draws.end() ? nullptr : found;
}

Engine engine_of(std::uint64_t seed, std::uint32_t stream) {
    std::seed_seq seeds{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                        stream};
    return Engine(seeds);
}

/// Scales gives the factor of each block of elements.
class Scales {
  public:
    Scales(const NamedDraw& named, const Element& element, std::uint64_t seed)
        : in_layers_(named.in_layers && element.unit_roundoff != 0),
          base_(element.unit_roundoff == 0 ? integer_scale : 1.0),
          engine_(engine_of(seed, layer_stream)) {}
    double next() { return in_layers_ ? std::pow(10.0, exponent_(engine_)) : base_; }

  private:
    // This is no rank's stream: all ranks draw the same from it.
    static constexpr std::uint32_t layer_stream = UINT32_MAX;

    bool in_layers_;
    double base_;
    Engine engine_;
    std::uniform_real_distribution<double> exponent_{-4.0, -1.0};
};

std::vector<std::byte> generate_random(const NamedDraw& named, const Element& element,
                                       std::size_t count, std::uint64_t seed, int rank) {
    constexpr std::size_t block_elems = 4096;
    std::array<double, block_elems> values;
    Engine engine = engine_of(seed, static_cast<std::uint32_t>(rank));
    Scales scales(named, element, seed);
    const Draw draw = named.make();
    std::vector<std::byte> out(count * element.bytes);
    for (std::size_t begin = 0; begin < count; begin += block_elems) {
        const std::size_t block = std::min(block_elems, count - begin);
        const double scale = scales.next();
        std::generate_n(values.begin(), block, [&] { return scale * draw(engine); });
        element.store(values.data(), block, out.data() + begin * element.bytes);
    }
    return out;
}

std::vector<std::byte> read_file(const std::string& path, std::size_t element_bytes) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) {
        throw std::runtime_error("--data: cannot open " + path);
    }
    const std::size_t size = static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0));
    std::vector<std::byte> bytes(size - size % element_bytes);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file || bytes.empty()) {
        throw std::runtime_error("--data: " + path + " cannot be read or holds no element");
    }
    return bytes;
}

std::vector<std::byte> generate_from_file(const std::string& path, const Element& element,
                                          std::size_t count, int rank) {
    const std::vector<std::byte> bytes = read_file(path, element.bytes);
    std::vector<std::byte> out(count * element.bytes);
    std::size_t from = static_cast<std::size_t>(rank) * out.size() % bytes.size();
    for (std::size_t to = 0; to < out.size();) {
        const std::size_t piece = std::min(out.size() - to, bytes.size() - from);
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), piece,
                    out.begin() + static_cast<std::ptrdiff_t>(to));
        to += piece;
        from = 0;
    }
    return out;
}

}  // namespace

bool is_data_name(std::string_view name) {
    return !data_file(name).empty() || find_draw(name) != nullptr;
}

std::string data_file(std::string_view name) {
    return name.starts_with(file_prefix) ? std::string(name.substr(file_prefix.size()))
                                         : std::string();
}

std::string data_names() {
    std::string names;
    for (const NamedDraw& draw : draws) {
        names += std::string(draw.name) + ", ";
    }
    return names + "file:PATH";
}

std::vector<std::byte> generate(std::string_view name, const Element& element, std::size_t count,
                                std::uint64_t seed, int rank) {
    if (const NamedDraw* named = find_draw(name)) {
        return generate_random(*named, element, count, seed, rank);
    }
    return generate_from_file(data_file(name), element, count, rank);
}

}  // namespace gradcoll::bench
