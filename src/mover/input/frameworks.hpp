// mover/input/frameworks.hpp - reads settings of training frameworks as strategies: DeepSpeed's
// file (ds_config.json) and Megatron-LM's arguments. docs/mover.md has a table of what each key
// says here. Settings that say nothing about sizes, times or order are ignored; those that we
// cannot follow are refused. Errors: invalid_argument.
#pragma once

#include <string>
#include <string_view>

#include "mover/input/parallel.hpp"

namespace gradcoll::mover {

bool is_deepspeed(const nlohmann::json& json);
Result<Parallel> parallel_of_deepspeed(const Document& document);

bool is_megatron(const nlohmann::json& json);
/// Keys may be written as arguments or as in YAML: tensor-model-parallel-size,
/// tensor_model_parallel_size.
Result<Parallel> parallel_of_megatron(const Document& document);

/// Reads Megatron-LM's arguments from a text that is no JSON: a command line or script with
/// `--key value`, where a value may be a variable that the script sets to a plain value, or YAML
/// with a `key: value` a line. Only keys that parallel_of_megatron() knows are in the document.
/// Errors: a key with two values; none of the keys is there.
Result<Document> megatron_arguments(const std::string& origin, std::string_view text);

/// Reads a strategy's file or `key=value,...`, as read_document(), or Megatron-LM's arguments.
Result<Document> read_parallel(std::string_view option, const std::string& argument);

/// A RefusedKey has but one value that can be followed; null: none at all.
struct RefusedKey {
    std::string_view key;
    std::string_view followed;  ///< as JSON
    std::string_view allowed;   ///< the message
};

/// Records a fault if the key is there with another value.
void refuse_other(Fields& in, const RefusedKey& refused);

}  // namespace gradcoll::mover
