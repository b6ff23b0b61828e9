/**
 * Parses YAML as Helm does, and writes JSON that Helm reads back unchanged. No mode of any npm parser has the results
 * of Go's sigs.k8s.io/yaml. So the package `yaml` only finds the structure, with every scalar as text, and scalars are
 * resolved as Go does. Results of Go are in shared/golden, and the tests compare.
 */
import { Composer, type Document, isScalar, Parser, type YAMLError } from "yaml";
import { AppError } from "../../runtime/errors/index.ts";
import { canonicalJson } from "../json/index.ts";
import { rejectAmbiguous } from "./ambiguous.ts";
import { decodeDocument } from "./decode.ts";
import { DecodeError, yamlErrors } from "./errors.ts";

/** What go.yaml.in/yaml rejects anywhere in a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches control characters
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|\p{Surrogate}/u;
/** What a JSON string may have unescaped, and YAML rejects or takes for a line break. */
const unsafeInYaml = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Why a text is not YAML, and the first place where it is not. `why` never has any of the text. */
interface InvalidYaml {
  readonly kind: "invalid";
  readonly line: number;
  readonly column: number;
  readonly why: string;
}

/**
 * Parses the first document of a text, as Go does; what follows a second `---` is ignored. An empty text is null, and an
 * unsafe integer is a `RawNumber`.
 *
 * Throws YAML_INVALID with `name`, line, column and cause, and never with any of the text.
 */
export function parseHelmYaml(source: string, { name }: { readonly name: string }): unknown {
  const read = readHelmYaml(source);
  if (read.kind === "valid") return read.value;
  const place = `line ${read.line}, column ${read.column}`;
  throw new AppError(yamlErrors.YAML_INVALID, `read ${name}, ${place}: ${read.why}`);
}

/** As `parseHelmYaml`, for callers that say in their own words what is invalid and where. */
export function readHelmYaml(
  source: string,
): { readonly kind: "valid"; readonly value: unknown } | InvalidYaml {
  // The package has two line breaks, Go's parser all of these.
  const text = source.replace(/\r\n?|\u0085/g, "\n");
  try {
    const control = forbidden.exec(text);
    if (control !== null)
      throw new DecodeError(control.index, "YAML cannot have a control character unescaped");
    const document = firstDocument(text);
    rejectInvalid(document);
    rejectAmbiguous(document, text);
    return { kind: "valid", value: decodeDocument(document.contents) };
  } catch (thrown) {
    if (!(thrown instanceof DecodeError)) throw thrown;
    const before = text.slice(0, thrown.offset).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    return { kind: "invalid", line: before.length, column, why: thrown.message };
  }
}

/**
 * Writes a value for `helm -f`: JSON, which is YAML, too, without anything that a YAML parser would read differently. Numbers
 * keep their digits; Helm converts each to a float64, as in any values file, so that a template gets 9.007199254740992e+15
 * for 9007199254740993. Users who need the digits write a string.
 */
export function toHelmJson(value: unknown): string {
  const text = canonicalJson(value).replace(unsafeInYaml, (character) => `\\u${hex(character)}`);
  // JSON.stringify escapes lone surrogates; Go's YAML rejects them, and Go's JSON writes U+FFFD.
  return text.includes("\\ud")
    ? text.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (found, half) =>
        half === undefined ? found : "\\ufffd",
      )
    : text;
}

function firstDocument(text: string): Document {
  const composer = new Composer({
    version: "1.1",
    schema: "failsafe",
    resolveKnownTags: false,
    uniqueKeys: false,
  });
  const [first] = composer.compose(new Parser().parse(text), true, text.length);
  if (first === undefined) throw new DecodeError(0, "it has no document");
  return first;
}

/** Rejects what the package reports, and what it accepts and Go does not. */
function rejectInvalid({ errors, warnings, directives, contents }: Document): void {
  const found = [...errors, ...warnings.filter(({ code }) => code === "BAD_DIRECTIVE")];
  const [first] = found.sort((a, b) => a.pos[0] - b.pos[0]);
  if (first !== undefined) throw new DecodeError(first.pos[0], causeOf(first));
  if (directives?.yaml.explicit === true && directives.yaml.version !== "1.1") {
    throw new DecodeError(
      0,
      `it has %YAML ${directives.yaml.version} but Helm reads 1.1 only; remove that line`,
    );
  }
  const nothing =
    isScalar(contents) && contents.source === "" && contents.range?.[1] === contents.range?.[0];
  if (nothing && directives?.docEnd === true && directives.docStart !== true) {
    throw new DecodeError(
      0,
      'it starts with "...", the end of a document, so what follows would be ignored',
    );
  }
}

/** The message of the package in one line, without the text that it quotes, which may be secret. */
function causeOf({ code, message }: YAMLError): string {
  if (code === "RESOURCE_EXHAUSTION") return "it is nested too deeply";
  // biome-ignore lint/plugin: what the package prints
  const [, quote] = /^Missing closing (.)quote/.exec(message) ?? [];
  if (quote !== undefined)
    return `a closing ${quote} is missing, or the following lines are not indented`;
  // biome-ignore lint/plugin: what the package prints
  const cause = message.replace(
    /(?<=\S): .*$|(?<=Unknown directive|escape sequence) .*$|\n.*$/s,
    "",
  );
  return cause.charAt(0).toLowerCase() + cause.slice(1);
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
