"""Markdown, as the pages of this project are written, in the language of manual pages.

Headings, paragraphs, lists, tables, fenced and indented code; in a line `code`, **bold**, *italics* and links. A table
becomes a list: its first column stands for the row.
"""
import re

LINK = re.compile(r"!?\[([^\]]*)\]\(([^)]*)\)")
SPAN = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")


def escaped(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")


def line_of(text):
    """One line or paragraph. Of a link its text stays."""
    text = LINK.sub(lambda found: found[1], " ".join(text.split()))
    out, at = "", 0
    for span in SPAN.finditer(text):
        font = "I" if span[3] else "B"
        words = span[1] or (span[2] or span[3]).replace("`", "")
        out += escaped(text[at:span.start()]) + f"\\f{font}{escaped(words)}\\fR"
        at = span.end()
    out += escaped(text[at:])
    return "\\&" + out if out.startswith(".") else out


def code_of(lines):
    body = "\n".join(("\\&" if line.startswith(".") else "") + escaped(line) for line in lines)
    return f".PP\n.RS 4\n.nf\n{body}\n.fi\n.RE\n"


def cells_of(line):
    """A | within code is no border; \\| stands for one."""
    masked = re.sub(r"`[^`]*`", lambda found: found[0].replace("|", "\0"), line.strip().strip("|").replace("\\|", "\0"))
    return [cell.strip().replace("\0", "|") for cell in masked.split("|")]


def table_of(lines):
    names, rows = cells_of(lines[0]), [cells_of(line) for line in lines[2:]]
    out = ""
    for row in rows:
        out += f".TP\n{line_of(row[0]) or chr(92) + '&'}\n"
        rest = [(name, cell) for name, cell in zip(names[1:], row[1:]) if cell]
        out += "\n.br\n".join(line_of(f"{name}: {cell}" if name and len(names) > 2 else cell) for name, cell in rest) or "\\&"
        out += "\n"
    return out


def blocks_of(text):
    """(kind, lines) of each block: code, heading, table, item, text."""
    kind, lines = None, []
    for line in text.splitlines():
        if kind == "fence":
            if line.startswith("```"):
                yield "code", lines
                kind, lines = None, []
            else:
                lines.append(line)
            continue
        new = ("fence" if line.startswith("```") else "heading" if re.match(r"#+ ", line) else "table" if line.startswith("|") and kind != "text"
               else "item" if re.match(r"([-*]|\d+\.) ", line) else None if not line.strip()
               else "code" if line.startswith("    ") and kind in (None, "code") else "text")
        joins = new == kind and new in ("table", "text", "code") or (kind == "item" and new == "text")
        if not joins:
            if lines and kind:
                yield kind, lines
            kind, lines = new, []
        if new not in (None, "fence"):
            lines.append(line.removeprefix("    ") if new == "code" else line)
    if lines and kind:
        yield kind, lines


def body_of(text):
    """All below the title, from the first paragraph on."""
    out = ""
    for kind, lines in blocks_of(text):
        if kind == "code":
            out += code_of(lines)
        elif kind == "table":
            out += table_of(lines)
        elif kind == "heading":
            level, title = re.match(r"(#+) (.*)", lines[0]).groups()
            out += f"{'.SH' if len(level) < 3 else '.SS'} {line_of(title)}\n"
        elif kind == "item":
            out += f".IP \\(bu 2\n{line_of(re.sub(r'^([-*]|[0-9]+[.]) ', '', ' '.join(lines)))}\n"
        else:
            out += f".PP\n{line_of(' '.join(lines))}\n"
    return out
