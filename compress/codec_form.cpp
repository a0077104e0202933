#include "compress/codec_form.hpp"

#include <algorithm>
#include <vector>

#include "compress/stage.hpp"

namespace gradcoll {
namespace {

/// Asking is a parameter of a codec's text that asks for another form, with some value.
struct Asking {
    const char* parameter;
    CodecParameters parameters;
};
const Asking askings[] = {
    {"/abs", {.abs = 1}}, {"/rel", {.rel = 1.0 / 128}}, {"/seed", {.seed = 1}}};

/// Returns the member that serves a form. The table's objects live as long as the program.
const CodecMember* member_of(const NamedForm& form) {
    const CodecEntry& entry = codec_entries()[place_of_codec(number_of(form.codec))];
    return form_of(entry, form.parameters).member;
}

struct Forms {
    std::vector<NamedForm> all;
    std::vector<const CodecMember*> members;

    Forms() {
        for (const CodecEntry& entry : codec_entries()) {
            const auto codec = static_cast<CodecId>(entry.member->number);
            add({codec, {}, std::string(name_of(codec))});
            for (const auto& [parameter, parameters] : askings)
                add({codec, parameters, std::string(name_of(codec)) + parameter});
        }
    }
    /// Adds the form if its parameters change anything.
    void add(NamedForm form) {
        const CodecMember* const member = member_of(form);
        if (std::ranges::find(members, member) != members.end()) return;
        all.push_back(std::move(form));
        members.push_back(member);
    }
};

const Forms& forms() {
    static const Forms made;
    return made;
}

}  // namespace

std::span<const NamedForm> all_codec_forms() {
    return forms().all;
}

std::size_t form_index_of(CodecId codec) {
    const CodecMember* const member = member_of({plain(codec), parameters_of(codec), {}});
    const auto& members = forms().members;
    return static_cast<std::size_t>(std::ranges::find(members, member) - members.begin());
}

Result<CodecId> codec_of(const NamedForm& form) {
    return codec_with(form.codec, form.parameters);
}

const CodecRates& rates_of(const NamedForm& form) {
    return member_of(form)->rates;
}

}  // namespace gradcoll
