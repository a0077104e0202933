// mover/analysis/tower_layers.cpp - the layers of an encoder of images, and what makes tokens of
// the patches that it returns.
#include <fmt/format.h>

#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {
namespace {

/// Returns the strategy that the encoder follows: its samples are images, and each device that
/// shares a sample's tokens reads all of its images. Where its heads cannot be dealt to
/// tensor-parallel devices, each has all of it.
Parallel strategy_of(const Tower& tower, const Images& images, const Parallel& parallel) {
    Parallel out = parallel;
    out.micro_batch_size = size_product({parallel.micro_batch_size, images.count});
    out.sequence = images.patches + (tower.model.embedding.first_token ? 1 : 0);
    out.context = 1;
    out.sequence_parallel = false;
    if (!check_tensor(tower.model, parallel.tensor).ok()) out.tensor = 1;
    return out;
}

LayerPart connect(const StepSizes& step, const Connector& connector, std::int64_t patches,
                  PartSizes& sizes, std::int64_t& parameters) {
    const std::int64_t of_token = connector.patches_of_token;
    const std::int64_t hidden = step.model.hidden, all = size_product({hidden, of_token});
    const std::int64_t width = connector.averages ? hidden : all;
    sizes.set_tokens(of_token > 0 ? size_product({step.samples, patches / of_token}) : 0);
    sizes.norm(connector.patch_norm, "patch_norm.in", all, hidden, Split::never);
    if (connector.averages) sizes.keep("mean.in", all, Split::never);
    sizes.norm(connector.token_norm, "token_norm.in", width, width, Split::never);
    int number = 0;
    for (const Product& product : connector.products) {
        const std::string name = fmt::format("product {}", ++number);
        sizes.keep(name + ".in", product.inputs, Split::never);
        if (product.activated) sizes.keep(name + ".out", product.outputs, Split::never);
        sizes.product(product.inputs, product.outputs, product.bias, Matrix::whole);
    }
    SizedPart sized = sizes.finish({});
    parameters += sized.parameters;
    return std::move(sized.part);
}

/// Returns the last norm and all connectors as one layer.
DeviceLayer projector(const StepSizes& step, const Tower& tower, std::int64_t patches) {
    DeviceLayer layer{.name = "image projector", .recomputable = false};
    layer.input_bytes = of_row(step, step.model.number_bytes);
    layer.parameters = tower.unused_numbers;
    for (const Connector& connector : tower.connectors) {
        const std::size_t n = layer.parts.size();
        PartSizes sizes(step, n == 0 ? "projector" : fmt::format("projector {}", n + 1));
        if (n == 0)
            sizes.norm(tower.model.last_norm, "last_norm.in", step.model.hidden, step.model.hidden,
                       Split::never);
        layer.parts.push_back(connect(step, connector, patches, sizes, layer.parameters));
    }
    return layer;
}

}  // namespace

Result<Images> images_of(const Model& model, const Parallel& parallel) {
    const auto wrong = [](std::string_view key, std::int64_t found, const std::string& allowed) {
        return Status(Code::invalid_argument,
                      fmt::format("{}: found {}, allowed {}", key, found, allowed));
    };
    Images out;
    if (!model.tower) {
        const std::string none = "is none: the model reads no images among the tokens of a sample";
        if (parallel.images >= 0) return wrong("images", parallel.images, none);
        if (parallel.image_size > 0) return wrong("image_size", parallel.image_size, none);
        return out;
    }
    const Tower& tower = *model.tower;
    out.height = tower.height;
    out.width = tower.width;
    const std::int64_t size = parallel.image_size;
    if (size > 0) {
        if (!tower.takes_any_size && (size != tower.height || size != tower.width))
            return wrong("image_size", size,
                         fmt::format("is the model's, {} x {}", tower.height, tower.width));
        out.height = out.width = size;
    }
    const std::int64_t of_token = tower.connectors.front().patches_of_token;
    out.patches = size_product({out.height / tower.patch_height, out.width / tower.patch_width});
    out.tokens = of_token > 0 ? out.patches / of_token : 0;
    const std::int64_t room = tokens_of_sample(std::get<TransformerModel>(model.body), parallel);
    out.count =
        parallel.images >= 0 ? parallel.images : (out.tokens > 0 && out.tokens <= room ? 1 : 0);
    if (out.count > 0 && out.tokens == 0)
        return wrong(
            "images", out.count,
            out.patches == 0
                ? "is 0 without image_size: the model does not say how large images are"
                : fmt::format("is 0: {} patches do not make the model's tokens", out.patches));
    if (size_product({out.count, out.tokens}) > room)
        return wrong("images", out.count,
                     fmt::format("are at most {}: one takes {} tokens of a sample's {}",
                                 room / out.tokens, out.tokens, room));
    return out;
}

std::vector<DeviceLayer> tower_layers(const Tower& tower, const Images& images,
                                      const Parallel& parallel, const Cluster& cluster) {
    const Parallel strategy = strategy_of(tower, images, parallel);
    const StepSizes step(tower.model, strategy, cluster, false);
    std::vector<DeviceLayer> layers{embedding(step)};
    layers.front().name = "image embedding";
    std::int64_t number = 0;
    for (const Block& block : tower.model.blocks) {
        const DeviceLayer layer = layer_of(step, block);
        for (std::int64_t copy = 0; copy < block.repeat; ++copy) {
            layers.push_back(layer);
            layers.back().name = fmt::format("image layer {}", number++);
        }
    }
    layers.push_back(projector(step, tower, images.patches));
    for (DeviceLayer& layer : layers) layer.place = LayerPlace::first;
    return layers;
}

}  // namespace gradcoll::mover
