/** The reference page of the API, as Markdown. */
import { type KindDefinition, kinds } from "../crd/index.ts";
import { apiVersion } from "../index.ts";
import { type FieldTable, fieldTable, type NamedType, typeLink } from "./field-table.ts";

const preface = `# API reference

Generated from the schemas in \`shared/src/api/fleet\`; change those and run \`npm run generate\`.

All kinds are in \`${apiVersion}\` and namespaced. Most fields are Fleet's, with the same meaning. An absent field,
\`null\` and an empty text are the same. A field that is not listed here is kept unchanged.

A path such as \`diff.comparePatches[].kind\` is the field \`kind\` of each entry of the list \`comparePatches\` in \`diff\`. Times
are RFC 3339. "When absent" is the meaning of an absent field; it is not written into the object.
`;

export function apiReference(): string {
  return referencePage({ preface, kinds });
}

interface PageSpec {
  /** The title and the introduction, as Markdown. */
  readonly preface: string;
  readonly kinds: readonly KindDefinition[];
  /** A page of the same folder with types that this one refers to. */
  readonly linked?: { readonly path: string; readonly kinds: readonly KindDefinition[] };
}

/** The reference page of these kinds. */
export function referencePage({ preface: introduction, kinds: listed, linked }: PageSpec): string {
  const sections = listed.map(kindSection);
  const isLinked = new Set(
    linked === undefined ? [] : typesOf(linked.kinds.map(kindSection)).map(({ title }) => title),
  );
  const types = typesOf(sections);
  const own = types.filter(({ title }) => !isLinked.has(title));
  const page = [
    introduction,
    `Kinds: ${listed.map(({ resource }) => `[${resource.kind}](#${resource.kind.toLowerCase()})`).join(", ")}.\n`,
    ...sections.map((section) => section.text),
    "## Types\n\nTypes that several kinds share.\n",
    ...own.map(({ title, schema }) => `### ${title}\n\n${tableText(fieldTable(schema))}`),
  ].join("\n");
  return types
    .filter(({ title }) => isLinked.has(title))
    .reduce(
      (text, { title }) =>
        text.replaceAll(typeLink(title), typeLink(title).replace("#", `${linked?.path ?? ""}#`)),
      page,
    );
}

interface Section {
  readonly text: string;
  readonly types: readonly NamedType[];
}

function kindSection(kind: KindDefinition): Section {
  const { resource, description, columns } = kind;
  const parts = [
    "fields" in kind
      ? { heading: "fields", table: fieldTable(kind.fields) }
      : { heading: "spec", table: fieldTable(kind.spec) },
    ...(kind.status === undefined ? [] : [{ heading: "status", table: fieldTable(kind.status) }]),
  ];
  const shown = columns.map(({ name, jsonPath }) => `${name} (\`${jsonPath}\`)`).join(", ");
  const text = [
    `## ${resource.kind}\n\n${description}\n`,
    ...(shown === "" ? [] : [`\`kubectl get ${resource.plural}\` shows ${shown}.\n`]),
    ...parts.map(({ heading, table }) => `### ${resource.kind} ${heading}\n\n${tableText(table)}`),
  ].join("\n");
  return { text, types: parts.flatMap(({ table }) => table.types) };
}

function typesOf(sections: readonly Section[]): readonly NamedType[] {
  return allTypes(sections.flatMap(({ types }) => types));
}

/** These types and those that they refer to, each once, by name. */
function allTypes(mentioned: readonly NamedType[]): readonly NamedType[] {
  const known = new Map<string, NamedType>();
  const waiting = [...mentioned];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (known.has(next.title)) continue;
    known.set(next.title, next);
    waiting.push(...fieldTable(next.schema).types);
  }
  return [...known.values()].sort((a, b) => (a.title < b.title ? -1 : 1));
}

function tableText({ rows }: FieldTable): string {
  const lines = rows.map(
    ({ path, type, absent, description }) =>
      `| \`${path}\` | ${type} | ${cell(absent)} | ${cell(description)} |`,
  );
  return ["| Field | Type | When absent | Description |", "|---|---|---|---|", ...lines, ""].join(
    "\n",
  );
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
