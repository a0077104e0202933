#include "models.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "base/text.hpp"

namespace {

class Model {
  public:
    void add(std::string name, std::size_t count) {
        parameters_.push_back({std::move(name), count});
    }
    void convolution(const std::string& name, std::size_t in, std::size_t out, std::size_t width) {
        add(name + ".weight", in * out * width * width);
    }
    void with_bias(const std::string& name, std::size_t in, std::size_t out) {
        add(name + ".weight", in * out);
        add(name + ".bias", out);
    }
    /// Adds the parameters of batch or layer normalisation.
    void normalisation(const std::string& name, std::size_t width) {
        add(name + ".weight", width);
        add(name + ".bias", width);
    }
    std::vector<Parameter> take() { return std::move(parameters_); }

  private:
    std::vector<Parameter> parameters_;
};

/// Adds three convolutions, and a fourth beside them if the width changes. Returns the new width.
std::size_t add_bottleneck(Model& model, const std::string& name, std::size_t in, std::size_t width,
                           bool changes) {
    const std::size_t out = 4 * width;
    model.convolution(name + ".conv1", in, width, 1);
    model.normalisation(name + ".bn1", width);
    model.convolution(name + ".conv2", width, width, 3);
    model.normalisation(name + ".bn2", width);
    model.convolution(name + ".conv3", width, out, 1);
    model.normalisation(name + ".bn3", out);
    if (changes) {
        model.convolution(name + ".downsample.0", in, out, 1);
        model.normalisation(name + ".downsample.1", out);
    }
    return out;
}

}  // namespace

std::vector<Parameter> resnet50() {
    Model model;
    model.convolution("conv1", 3, 64, 7);
    model.normalisation("bn1", 64);
    constexpr std::size_t blocks[] = {3, 4, 6, 3};
    std::size_t in = 64;
    for (std::size_t stage = 0; stage < 4; ++stage)
        for (std::size_t block = 0; block < blocks[stage]; ++block)
            in = add_bottleneck(model, fmt::format("layer{}.{}", stage + 1, block), in,
                                std::size_t{64} << stage, block == 0);
    model.with_bias("fc", in, 1000);
    return model.take();
}

std::vector<Parameter> bert_base() {
    constexpr std::size_t width = 768;
    Model model;
    model.add("embeddings.word", 30522 * width);
    model.add("embeddings.position", 512 * width);
    model.add("embeddings.type", 2 * width);
    model.normalisation("embeddings.norm", width);
    for (int layer = 0; layer < 12; ++layer) {
        const std::string name = fmt::format("layer.{}", layer);
        for (const char* part : {".query", ".key", ".value", ".attention.output"})
            model.with_bias(name + part, width, width);
        model.normalisation(name + ".attention.norm", width);
        model.with_bias(name + ".intermediate", width, 4 * width);
        model.with_bias(name + ".output", 4 * width, width);
        model.normalisation(name + ".output.norm", width);
    }
    model.with_bias("pooler", width, width);
    return model.take();
}

std::vector<Parameter> parameters_of(std::string_view model) {
    if (model == "resnet50") return resnet50();
    if (model == "bert-base") return bert_base();
    const std::size_t cross = model.find('x');
    if (cross == std::string_view::npos) return {};
    const auto tensors = gradcoll::parse_integer(model.substr(0, cross), 1, 1 << 16);
    const auto count = gradcoll::parse_integer(model.substr(cross + 1), 1, 1 << 28);
    std::vector<Parameter> equal;
    for (std::int64_t i = 0; tensors.ok() && count.ok() && i < *tensors; ++i)
        equal.push_back({fmt::format("tensor.{}", i), static_cast<std::size_t>(*count)});
    return equal;
}
