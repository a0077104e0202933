// mover/input/model.hpp - the model to train, as it was described: a transformer by its figures, or
// a list of layers with what each keeps and how long it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mover/input/fields.hpp"
#include "mover/input/transformer.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

/// A KeptTensor is kept by a part of a layer until its backward; its size is that of one sample.
struct KeptTensor {
    std::string name;
    std::int64_t bytes = 0;
};

struct ListedLayer {
    std::string name;
    std::int64_t repeat = 1;
    std::int64_t parameters = 0;  ///< numbers, not bytes
    std::int64_t input_bytes =
        0;  ///< for one sample: the bytes kept for a layer that is recomputed
    std::int64_t workspace_bytes = 0;
    std::int64_t backward_workspace_bytes = -1;  ///< negative: as forward
    std::vector<KeptTensor> kept;
    double forward_flops = 0;  ///< for one sample
    GivenTimes times;          ///< for one micro-batch
};

struct Model {
    std::string name;
    std::variant<TransformerModel, std::vector<ListedLayer>> body;
    std::optional<Tower> tower{};  ///< of images that stand among a sample's tokens
    /// This says for people what of the description is not simulated; empty: all is.
    std::string left_out{};
};

/// Reads docs/schemas/mover-model.json. Errors of both readers: invalid_argument with file, place,
/// value and what is allowed.
Result<Model> own_model(const Document& document);
/// Reads a config.json of Hugging Face, which is recognised by its model_type.
Result<Model> model_of_hugging_face(const Document& document);

inline constexpr std::int64_t most_layers = 100'000;
inline constexpr std::int64_t most_wide = std::int64_t{1}
                                          << 24;  ///< upper bound of every other figure

}  // namespace gradcoll::mover
