/**
 * YAML as Helm reads it, and JSON that Helm reads back as it was meant.
 *
 * No mode of any npm parser gives what Go's sigs.k8s.io/yaml gives. So the package `yaml` only finds the structure here,
 * every scalar left as text, and what a scalar means is decided as Go decides it. What Go says is kept in shared/golden.
 */
import { Composer, type Document, isScalar, Parser, type YAMLError } from "yaml";
import { AppError } from "../errors/app-error.ts";
import { canonicalJson } from "../json/exact.ts";
import { rejectAmbiguous } from "./ambiguous.ts";
import { decodeDocument } from "./decode.ts";
import { DecodeError, yamlErrors } from "./errors.ts";

/** What go.yaml.in/yaml refuses anywhere in a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]|\p{Surrogate}/u;
/** What JSON may have in a string as it is, and YAML refuses, or takes for the end of a line. */
const unsafeInYaml = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * Reads the first document of a text, as Go does; what follows a second `---` does not count. An empty text is null, and
 * an integer that is not safe is a `RawNumber`.
 *
 * Throws YAML_INVALID with the name that was given, line, column and cause, and never with what the text holds.
 */
export function parseHelmYaml(source: string, { name }: { readonly name: string }): unknown {
  // The package knows two ends of a line, Go's reader all of these.
  const text = source.replace(/\r\n?|\u0085/g, "\n");
  try {
    const control = forbidden.exec(text);
    if (control !== null)
      throw new DecodeError(control.index, "a control character cannot stand in YAML as it is");
    const document = firstDocument(text);
    refuse(document);
    rejectAmbiguous(document, text);
    return decodeDocument(document.contents);
  } catch (thrown) {
    if (!(thrown instanceof DecodeError)) throw thrown;
    const before = text.slice(0, thrown.offset).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new AppError(yamlErrors.YAML_INVALID, `read ${name}, ${place}: ${thrown.message}`);
  }
}

/**
 * Writes a value for `helm -f`: JSON, which is YAML too, with nothing in it that a YAML reader would take otherwise.
 * Numbers keep their digits; Helm makes a float64 of each, as it does of the same number in a values file of its user's, so
 * that 9007199254740993 is 9.007199254740992e+15 to a template. Who needs the digits writes a string.
 */
export function toHelmJson(value: unknown): string {
  const text = canonicalJson(value).replace(unsafeInYaml, (character) => `\\u${hex(character)}`);
  // Half a character comes escaped from JSON.stringify; Go's YAML refuses that, and Go's JSON writes a replacement.
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
  if (first === undefined) throw new DecodeError(0, "there is no document in it");
  return first;
}

/** Refuses what the package found wrong, and what it lets pass and Go does not. */
function refuse({ errors, warnings, directives, contents }: Document): void {
  const found = [...errors, ...warnings.filter(({ code }) => code === "BAD_DIRECTIVE")];
  const [first] = found.sort((a, b) => a.pos[0] - b.pos[0]);
  if (first !== undefined) throw new DecodeError(first.pos[0], causeOf(first));
  if (directives?.yaml.explicit === true && directives.yaml.version !== "1.1") {
    throw new DecodeError(
      0,
      `it says %YAML ${directives.yaml.version} and Helm reads 1.1 only; remove that line`,
    );
  }
  const nothing =
    isScalar(contents) && contents.source === "" && contents.range?.[1] === contents.range?.[0];
  if (nothing && directives?.docEnd === true && directives.docStart !== true) {
    throw new DecodeError(
      0,
      'it begins with "...", the end of a document, and what follows would not be read',
    );
  }
}

/** What the package says, in one line, without the piece of the text that it quotes: that may be a secret. */
function causeOf({ code, message }: YAMLError): string {
  if (code === "RESOURCE_EXHAUSTION") return "it is nested too deeply";
  const [, quote] = /^Missing closing (.)quote/.exec(message) ?? [];
  if (quote !== undefined)
    return `a closing ${quote} is missing, or the next lines of the text are not indented`;
  const cause = message.replace(
    /(?<=\S): .*$|(?<=Unknown directive|escape sequence) .*$|\n.*$/s,
    "",
  );
  return cause.charAt(0).toLowerCase() + cause.slice(1);
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(4, "0");
}
