#include "engine/messages.hpp"

namespace gradcoll {
namespace {

std::string_view cut(std::string_view text, std::size_t most_bytes) {
    return text.substr(0, most_bytes);
}

Status too_short(const char* what) {
    return {Code::corrupt,
            std::string("a message of an engine ends within ") + what + ", or it is too long"};
}

}  // namespace

void write(const Ready& ready, ByteWriter& out) {
    out.number(ready.number);
    out.number(ready.priority);
    out.number(ready.bytes);
    out.number(ready.shape);
    out.number(ready.pack);
    out.number(ready.rank);
    out.text(cut(ready.name, most_name_bytes));
    out.text(cut(ready.shape_text, most_shape_bytes));
    out.text(cut(ready.error, most_error_bytes));
}

void write(const Verdict& verdict, ByteWriter& out) {
    out.number(verdict.number);
    out.number(static_cast<std::uint8_t>(verdict.more ? 1 : 0));
    out.text(cut(verdict.name, most_name_bytes));
    out.text(cut(verdict.error, most_error_bytes));
}

Status read(ByteReader& in, Ready& out) {
    const bool whole = in.number(out.number) && in.number(out.priority) && in.number(out.bytes) &&
                       in.number(out.shape) && in.number(out.pack) && in.number(out.rank) &&
                       in.text(out.name, most_name_bytes) &&
                       in.text(out.shape_text, most_shape_bytes) &&
                       in.text(out.error, most_error_bytes);
    return whole ? Status() : too_short("what a rank has ready");
}

Status read(ByteReader& in, Verdict& out) {
    std::uint8_t more = 0;
    const bool whole = in.number(out.number) && in.number(more) &&
                       in.text(out.name, most_name_bytes) && in.text(out.error, most_error_bytes);
    out.more = more != 0;
    return whole ? Status() : too_short("what all ranks begin");
}

}  // namespace gradcoll
