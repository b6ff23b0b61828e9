/** Random strings with templates, most of which can be rendered. */
import * as fc from "fast-check";

const keys = fc.constantFrom(
  ".ClusterName",
  ".ClusterLabels.region",
  ".ClusterLabels.number",
  ".ClusterLabels.empty",
  ".ClusterAnnotations.note",
  ".ClusterAnnotations.list",
  ".ClusterValues.size",
  ".ClusterValues.on",
  ".ClusterValues.nested.deep.key",
  "$.ClusterValues.name",
  "(index .ClusterValues.hosts 1)",
  "(first .ClusterValues.nested.list).name",
  '(dict "k" .ClusterName).k',
);
const missing = fc.constantFrom(
  ".ClusterLabels.gone",
  "$.ClusterValues.nested.gone",
  ".ClusterValues.gone.key",
  '(index .ClusterLabels "gone").key',
);
const chain = fc.oneof({ weight: 30, arbitrary: keys }, { weight: 1, arbitrary: missing });
const condition = fc.oneof(
  fc
    .tuple(fc.constantFrom("eq", "ne"), keys, keys)
    .map(([name, left, right]) => `${name} (print ${left}) (print ${right})`),
  fc.constantFrom('hasKey .ClusterLabels "gone"', 'hasKey .ClusterLabels "env"', "true", "false"),
  chain,
);
const filter = fc.constantFrom(
  "",
  " | quote",
  " | upper",
  " | toString | trunc 3",
  ' | default "d"',
  " | print",
);
const literal = fc.constantFrom(
  "",
  "a",
  // Not alone: Go accepts a dash in brackets, which our parser rejects (shared/src/text/yaml).
  "-c",
  "/",
  " b ",
  "{{ .x }}",
  "}",
  "{",
  '"',
  ",",
  "[",
  "$",
  "\\",
  "é",
);
const left = fc.constantFrom("${ ", "${", "${- ");
const right = fc.constantFrom(" }", "}", " -}");

const value = fc.tuple(left, chain, filter, right).map((parts) => parts.join(""));
const simple = fc
  .array(fc.oneof(literal, value), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(""));
const choice = fc
  .tuple(condition, simple, simple)
  .map(([test, yes, no]) => `\${ if ${test} }${yes}\${ else }${no}\${ end }`);
const block = fc.oneof(
  fc
    .tuple(simple, fc.constantFrom(".name", ".gone", "$.ClusterName", "len ."))
    .map(
      ([inner, field]) =>
        `\${ range .ClusterValues.nested.list }\${ ${field} }${inner.includes(".Cluster") ? "" : inner}\${ end }`,
    ),
  fc
    .constantFrom(".deep.key", ".gone", "$.ClusterName")
    .map((field) => `\${ with .ClusterValues.nested }\${ ${field} }\${ end }`),
);

/** In one line. With a trim marker at its start Fleet would remove the space after the key, and fail. */
export const templateText: fc.Arbitrary<string> = fc
  .array(fc.oneof(simple, value, choice, block), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(""))
  .filter((text) => text.includes("${") && !text.startsWith("${-"));
