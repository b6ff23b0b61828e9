/**
 * The value of a rendered string.
 *
 * Fleet writes all values as YAML, renders that text and parses it again, so the result depends on how Go wrote the string. The
 * rules, which shared/golden pins:
 *  - written plain, the result is parsed as YAML in its place: `3` is a number, `{a: 1}` a map. Plain are single lines that
 *    neither begin nor end with a space, do not begin with a YAML indicator, contain no `: ` and no ` #`, do not end with `:`,
 *    and contain no character that Go escapes;
 *  - written in quotes, the result is a string. Quoted are all other single lines, and texts with a space before a newline or
 *    with characters that Go escapes;
 *  - written as a block, the result is a string with as many trailing newlines as its block style keeps. Blocks are all other
 *    texts of several lines.
 * Where the result would break the quotes or the indentation, Fleet fails or parses something else; here it stays a string.
 * A result never reaches beyond its own value. Pure.
 */
import { readHelmYaml } from "@flotilla/shared/yaml";
import { TemplateError, trimEnd } from "./lex-template.ts";

export type TextPlace = "key" | "value" | "item";
export type TextStyle = "plain" | "quoted" | "block";

/** What go-yaml escapes: also some visible characters, such as emoji. */
const escaped = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const notPlain = /^[ #,[\]{}&*!|>'"%@`]|^[?:-](?: |$)|^---|^\.\.\.| $|:(?: |$)| #|[\u2028\u2029]/;
const endOfDocument = /^(?:---|\.\.\.)(?:\s|$)/m;

/** The style in which Go writes a string that contains `${`. */
export function styleOf(text: string): TextStyle {
  if (escaped.test(text)) return "quoted";
  if (!text.includes("\n")) return notPlain.test(text) ? "quoted" : "plain";
  return / (?:[\n\u2028\u2029]|$)/.test(text) ? "quoted" : "block";
}

/** The value of a rendered string. Throws a TemplateError. */
export function reread(text: string, rendered: string, place: TextPlace): unknown {
  switch (styleOf(text)) {
    case "quoted":
      return rendered;
    case "block":
      return chomp(text, rendered);
    case "plain":
      return readPlain(rendered, place);
  }
}

/** Trailing newlines: all of them if the source has several, else as many as the source. */
function chomp(text: string, rendered: string): string {
  if (text.endsWith("\n\n")) return rendered;
  const content = trimEnd(rendered, "\n");
  return text.endsWith("\n") && content !== "" ? `${content}\n` : content;
}

function readPlain(rendered: string, place: TextPlace): unknown {
  const found = (what: string): TemplateError =>
    new TemplateError(`its result is ${what}, expected one ${place === "key" ? "key" : "value"}`);
  const key = "value";
  const before = { key: "", value: `${key}: `, item: "- " }[place];
  const after = place === "key" ? `: ""` : "";
  if (place === "key" && rendered.includes("\n")) throw found("several lines");
  const source = before + rendered + after;
  if (endOfDocument.test(source)) throw found("several documents");
  const read = parseRendered(source);
  if (place === "item") {
    if (!Array.isArray(read) || read.length !== 1) throw found("several items of a list");
    return read[0];
  }
  const entries =
    typeof read === "object" && read !== null && !Array.isArray(read) ? Object.entries(read) : [];
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1) throw found("something else");
  if (place === "key") return entry[0];
  if (entry[0] !== key) throw found("something else");
  return entry[1];
}

/** Throws a TemplateError. */
export function parseRendered(source: string): unknown {
  const read = readHelmYaml(source);
  if (read.kind === "valid") return read.value;
  // The position in a single line says nothing, because the line has a prefix that was not rendered.
  const isSingleLine = read.line === 1 && !source.includes("\n");
  const place = isSingleLine ? "" : `line ${read.line}, column ${read.column}: `;
  throw new TemplateError(`its result is not YAML: ${place}${read.why}`);
}
