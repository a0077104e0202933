// models.hpp - the gradients of published models: name and number of elements of every parameter.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

struct Parameter {
    std::string name;
    std::size_t count = 0;
};

/// Returns 161 tensors, 25,557,032 elements, in the order of the forward pass. Source: He et al.,
/// "Deep Residual Learning for Image Recognition", CVPR 2016, as torchvision lists them.
std::vector<Parameter> resnet50();

/// Returns 199 tensors, 109,482,240 elements. Source: Devlin et al., "BERT", NAACL 2019, base,
/// uncased.
std::vector<Parameter> bert_base();

/// Returns those of the model: "resnet50", "bert-base", or "400x4096" for 400 of 4096 elements
/// each. Returns nothing if it is neither, or too large.
std::vector<Parameter> parameters_of(std::string_view model);
