/**
 * Which documents of a manifest are CustomResourceDefinitions, and what Helm's record is to say of them. Pure.
 *
 * Helm leaves an object when it uninstalls a release whose *record* has the annotation `helm.sh/resource-policy` on it.
 * What is added here are whole lines with a remark, so that it can be told from what the chart says, and taken back to
 * the byte.
 */
import { isDeepStrictEqual } from "node:util";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { parseHelmYaml, toHelmJson } from "@flotilla/shared/yaml/helm-yaml.ts";
import { z } from "zod";
import { agentErrors } from "../errors.ts";
import { headOf } from "../readiness/manifest.ts";

export const policyAnnotation = "helm.sh/resource-policy";
export const keepPolicy = "keep";

/** A CustomResourceDefinition of a release. */
export interface ReleasedCrd {
  readonly name: string;
  /** Whether the chart itself says what becomes of it. */
  readonly isSettledByChart: boolean;
}

const remark = "# by Flotilla, unless deleteCRDResources";
const policyLine = `${policyAnnotation}: ${keepPolicy} ${remark}`;
const annotationsLine = `annotations: ${remark}`;
const addedLines = new RegExp(
  `^ *(?:${[policyLine, annotationsLine].map((line) => line.replaceAll(".", "\\.")).join("|")})\n`,
  "gm",
);

/** Where Helm begins another document: also in the middle of a line, and at ends of lines that are Go's. */
const separator = /((?:^|(?<=\n))---[ \t]*)/;

const kind = "CustomResourceDefinition";
const definitionSchema = z.looseObject({
  apiVersion: z.string().startsWith("apiextensions.k8s.io/"),
  kind: z.literal(kind),
  metadata: z.looseObject({
    name: z.string().min(1),
    annotations: z.looseObject({}).nullish(),
  }),
});
const listSchema = z.looseObject({
  kind: z.string().endsWith("List"),
  items: z.array(z.unknown()),
});

type Definition = z.infer<typeof definitionSchema>;

/** What a document holds. */
type Found =
  | { readonly kind: "definition"; readonly definition: Definition }
  /** Helm looks at the policy of a list as a whole, and not at those of what is in it. */
  | {
      readonly kind: "list";
      readonly list: Readonly<Record<string, unknown>>;
      readonly definitions: readonly Definition[];
      readonly others: readonly unknown[];
    };

/** The CustomResourceDefinitions of a manifest. Costs next to nothing where there are none. */
export function crdsOf(manifest: string): readonly ReleasedCrd[] {
  if (!manifest.includes(kind)) return [];
  return chartsOwn(manifest)
    .split(separator)
    .flatMap((document) => {
      const found = contentOf(document);
      if (found === undefined) return [];
      return found.kind === "definition" ? [found.definition] : found.definitions;
    })
    .map((definition) => ({
      name: definition.metadata.name,
      isSettledByChart: hasPolicy(definition),
    }));
}

/**
 * The manifest by which Helm leaves all CustomResourceDefinitions, but those of which the chart says something itself.
 * Throws CRDS_NOT_KEPT where one of them cannot be read.
 */
export function withKeptCrds(manifest: string): string {
  if (!manifest.includes(kind)) return manifest;
  // What was added before is added once more, with what has come since.
  return chartsOwn(manifest).split(separator).map(kept).join("");
}

/** The manifest as the chart has it. */
export function chartsOwn(manifest: string): string {
  return manifest.includes(remark) ? manifest.replace(addedLines, "") : manifest;
}

function kept(document: string): string {
  const found = contentOf(document);
  if (found === undefined) return document;
  if (found.kind === "list") return dissolved(document, found);
  if (hasPolicy(found.definition)) return document;
  return (
    withLine(document) ?? rewritten(document, inBlockStyle(wholeOf(document, found.definition)))
  );
}

function contentOf(document: string): Found | undefined {
  if (!document.includes(kind)) return undefined;
  const short = definitionSchema.safeParse(read(headOf(document)));
  if (short.success) return { kind: "definition", definition: short.data };
  const value = read(document);
  const whole = definitionSchema.safeParse(value);
  if (whole.success) return { kind: "definition", definition: whole.data };
  const list = listSchema.safeParse(value);
  if (!list.success) return undefined;
  const { items, ...rest } = list.data;
  const definitions = items.flatMap((item) => definitionSchema.safeParse(item).data ?? []);
  if (definitions.length === 0) return undefined;
  const others = items.filter((item) => !definitionSchema.safeParse(item).success);
  return { kind: "list", list: rest, definitions, others };
}

/** What was found may be but the head. */
function wholeOf(document: string, { metadata: { name } }: Definition): Definition {
  const whole = definitionSchema.safeParse(read(document));
  if (whole.success) return whole.data;
  throw new AppError(
    agentErrors.CRDS_NOT_KEPT,
    `write into Helm's record that CustomResourceDefinition ${name} stays when its release goes: its manifest there cannot be read; give it the annotation ${policyAnnotation} in the chart, or set deleteCRDResources`,
  );
}

function hasPolicy({ metadata: { annotations } }: Definition): boolean {
  return annotations !== undefined && annotations !== null && policyAnnotation in annotations;
}

/** The document with the annotation in a line of its own; undefined where it is not written so that there is a place for one. */
function withLine(document: string): string | undefined {
  const lines = document.split("\n");
  const at = lines.findIndex((line) => /^metadata:\s*(#.*)?$/.test(line));
  const indent = indentAfter(lines, at);
  if (at < 0 || indent === "") return undefined;
  const end = lines.findIndex((line, index) => index > at && /^[^\s#]/.test(line));
  const annotationsAt = lines.findIndex(
    (line, index) =>
      index > at &&
      (end < 0 || index < end) &&
      line.startsWith(`${indent}annotations:`) &&
      /^ *annotations:\s*(#.*)?$/.test(line),
  );
  const added =
    annotationsAt < 0
      ? lines.toSpliced(at + 1, 0, `${indent}${annotationsLine}`, `${indent}  ${policyLine}`)
      : lines.toSpliced(
          annotationsAt + 1,
          0,
          `${childIndent(lines, annotationsAt, indent)}${policyLine}`,
        );
  const text = added.join("\n");
  return isOnlyAnnotated(read(headOf(document)), read(headOf(text))) ? text : undefined;
}

/** That of the next line that says something. */
function indentAfter(lines: readonly string[], at: number): string {
  const next = lines.find((line, index) => index > at && /^\s*[^\s#]/.test(line));
  return /^ */.exec(next ?? "")?.[0] ?? "";
}

function childIndent(lines: readonly string[], at: number, indent: string): string {
  const found = indentAfter(lines, at);
  return found.length > indent.length ? found : `${indent}  `;
}

function isOnlyAnnotated(before: unknown, after: unknown): boolean {
  const own = definitionSchema.safeParse(before);
  const annotated = definitionSchema.safeParse(after);
  if (!own.success || !annotated.success) return false;
  const { metadata } = own.data;
  const annotations = { ...metadata.annotations, [policyAnnotation]: keepPolicy };
  return isDeepStrictEqual(annotated.data, { ...own.data, metadata: { ...metadata, annotations } });
}

/** The document of a list as one for each definition, beside the rest of the list. */
function dissolved(
  document: string,
  { list, definitions, others }: Extract<Found, { readonly kind: "list" }>,
): string {
  const rest = others.length === 0 ? [] : [`${toHelmJson({ ...list, items: others })}\n`];
  const each = definitions.map(inBlockStyle);
  return rewritten(document, [...rest, ...each].join("---\n"));
}

/** With the comments that it begins with: Helm writes there which template it is from. */
function rewritten(document: string, text: string): string {
  const [header = ""] = /^(?:[ \t]*(?:#.*)?\r?\n)*/.exec(document) ?? [];
  return `${header === "" ? "\n" : header}${text}`;
}

/** Written so that there is a place for a line, and with one where nothing says what becomes of it. */
function inBlockStyle(definition: Definition): string {
  const { apiVersion, kind, metadata, ...rest } = definition;
  const { annotations, ...names } = metadata;
  const own = entries(annotations ?? {}, "    ");
  const lines = [
    `apiVersion: ${apiVersion}`,
    `kind: ${kind}`,
    "metadata:",
    ...(own.length === 0 ? [] : ["  annotations:", ...own]),
    ...entries(names, "  "),
    ...entries(rest, ""),
  ];
  const text = `${lines.join("\n")}\n`;
  return hasPolicy(definition) ? text : (withLine(text) ?? text);
}

function entries(map: Readonly<Record<string, unknown>>, indent: string): readonly string[] {
  return Object.entries(map).map(
    ([key, value]) => `${indent}${toHelmJson(key)}: ${toHelmJson(value)}`,
  );
}

/** Undefined for what cannot be read: the cluster took it, so it is something else. */
function read(text: string): unknown {
  try {
    return parseHelmYaml(text, { name: "manifest" });
  } catch {
    return undefined;
  }
}
