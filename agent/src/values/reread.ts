/**
 * What a text with templates in it comes to.
 *
 * Fleet writes all values as YAML, renders that text and reads it again. So what becomes of a text depends on how Go wrote
 * it. The rule, which shared/golden pins:
 *  - written plain, it is read as YAML where it stands: `3` is a number, `{a: 1}` a map. So is every text of one line that
 *    neither begins nor ends with a space, does not begin with a character that means something to YAML, and holds no `: `,
 *    no ` #`, no `:` at its end, and no character that Go escapes;
 *  - written in quotes, because it is of one line and not plain, or of several with a space before a line's end, or with
 *    characters that Go escapes, it stays text;
 *  - written as a block, as all other texts of several lines, it stays text, with as many line ends behind it as a block of
 *    its kind has.
 * Where the quotes or the indentation would be broken by what is rendered, Fleet fails or reads something else; here it is
 * text all the same. Nothing that is rendered can reach beyond its own value. Pure.
 */
import { messageOf } from "@flotilla/shared/errors/app-error.ts";
import { parseHelmYaml } from "@flotilla/shared/yaml/helm-yaml.ts";
import { TemplateProblem } from "./template-problem.ts";
import { withoutEnd } from "./without-end.ts";

export type TextPlace = "key" | "value" | "item";
export type TextStyle = "plain" | "quoted" | "block";

/** What go-yaml escapes: not all of it is invisible, an emoji is among it. */
const escaped = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const notPlain = /^[ #,[\]{}&*!|>'"%@`]|^[?:-](?: |$)|^---|^\.\.\.| $|:(?: |$)| #|[\u2028\u2029]/;
const endOfDocument = /^(?:---|\.\.\.)(?:\s|$)/m;

/** How Go writes a text that has `${` in it. */
export function styleOf(text: string): TextStyle {
  if (escaped.test(text)) return "quoted";
  if (!text.includes("\n")) return notPlain.test(text) ? "quoted" : "plain";
  return / (?:[\n\u2028\u2029]|$)/.test(text) ? "quoted" : "block";
}

/** What was rendered of a text, as it is read again. Throws a TemplateProblem. */
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

/** A text that ends with one line end keeps one, with several all, with none none. */
function chomp(text: string, rendered: string): string {
  if (text.endsWith("\n\n")) return rendered;
  const content = withoutEnd(rendered, "\n");
  return text.endsWith("\n") && content !== "" ? `${content}\n` : content;
}

function readPlain(rendered: string, place: TextPlace): unknown {
  const found = (what: string): TemplateProblem =>
    new TemplateProblem(
      `what it renders is ${what}, and has to be one ${place === "key" ? "key" : "value"}`,
    );
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

/** As `parseHelmYaml`, but a TemplateProblem. */
export function parseRendered(source: string): unknown {
  try {
    return parseHelmYaml(source, { name: "it" });
  } catch (thrown) {
    const said = messageOf(thrown).replace(/^read it, /, "");
    // In one line there is no need to count, and not all of that line was rendered.
    const why = source.includes("\n") ? said : said.replace(/^line 1, column \d+: /, "");
    throw new TemplateProblem(`what it renders is no YAML: ${why}`, { cause: thrown });
  }
}
