/**
 * Finds the CustomResourceDefinitions in a manifest, and adds Helm's annotation that keeps them. Pure.
 *
 * On uninstall Helm keeps an object if the *stored manifest* has the annotation `helm.sh/resource-policy` on it. Additions are
 * whole lines with a marker comment, so that they differ from the chart's own and can be removed byte by byte.
 */
import { isDeepStrictEqual } from "node:util";
import { AppError } from "@flotilla/shared/errors";
import { toHelmJson } from "@flotilla/shared/yaml";
import * as z from "zod";
import { agentErrors } from "../../base/errors/index.ts";
import { headOf, type ReadYamlDocument } from "./manifest.ts";

export const policyAnnotation = "helm.sh/resource-policy";
export const keepPolicy = "keep";

/** A CustomResourceDefinition of a release. */
export interface ReleasedCrd {
  readonly name: string;
  /** The chart itself sets the policy annotation. */
  readonly hasOwnPolicy: boolean;
}

const marker = "# by Flotilla, unless deleteCRDResources";
const policyLine = `${policyAnnotation}: ${keepPolicy} ${marker}`;
const annotationsLine = `annotations: ${marker}`;
const addedLines = new RegExp(
  `^ *(?:${[policyLine, annotationsLine].map((line) => line.replaceAll(".", "\\.")).join("|")})\n`,
  "gm",
);

/** Where Helm begins another document: also in the middle of a line, and with Go's line ends. */
export const documentSeparator = /((?:^|(?<=\n))---[ \t]*)/;

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

/** The content of a document. */
type Found =
  | { readonly kind: "definition"; readonly definition: Definition }
  /** Helm reads the policy of the list itself, not its items' policies. */
  | {
      readonly kind: "list";
      readonly list: Readonly<Record<string, unknown>>;
      readonly definitions: readonly Definition[];
      readonly others: readonly unknown[];
    };

/** The CustomResourceDefinitions of a manifest. Cheap if there are none. */
export function crdsOf(manifest: string, read: ReadYamlDocument): readonly ReleasedCrd[] {
  if (!manifest.includes(kind)) return [];
  return withoutAdditions(manifest)
    .split(documentSeparator)
    .flatMap((document) => {
      const found = contentOf(document, read);
      if (found === undefined) return [];
      return found.kind === "definition" ? [found.definition] : found.definitions;
    })
    .map((definition) => ({
      name: definition.metadata.name,
      hasOwnPolicy: hasPolicy(definition),
    }));
}

/**
 * The manifest with which Helm keeps all CustomResourceDefinitions, except those for which the chart sets a policy. Throws
 * CRDS_NOT_KEPT if one of them cannot be parsed.
 */
export function withKeptCrds(manifest: string, read: ReadYamlDocument): string {
  if (!manifest.includes(kind)) return manifest;
  // Earlier additions are removed and added again, with new ones.
  return withoutAdditions(manifest)
    .split(documentSeparator)
    .map((document) => withPolicy(document, read))
    .join("");
}

/** The manifest without what the agent has added. */
export function withoutAdditions(manifest: string): string {
  return manifest.includes(marker) ? manifest.replace(addedLines, "") : manifest;
}

function withPolicy(document: string, read: ReadYamlDocument): string {
  const found = contentOf(document, read);
  if (found === undefined) return document;
  if (found.kind === "list") return splitList(document, found, read);
  if (hasPolicy(found.definition)) return document;
  const annotated = withLine(document, read);
  if (annotated !== undefined) return annotated;
  return rewritten(document, inBlockStyle(wholeOf(document, found.definition, read), read));
}

function contentOf(document: string, read: ReadYamlDocument): Found | undefined {
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

/** `definition` may have been parsed from the head only. Throws CRDS_NOT_KEPT. */
function wholeOf(
  document: string,
  { metadata: { name } }: Definition,
  read: ReadYamlDocument,
): Definition {
  const whole = definitionSchema.safeParse(read(document));
  if (whole.success) return whole.data;
  throw new AppError(
    agentErrors.CRDS_NOT_KEPT,
    `keep CustomResourceDefinition ${name} when its release is uninstalled: its manifest in Helm's storage cannot be parsed; set the annotation ${policyAnnotation} in the chart, or set deleteCRDResources`,
  );
}

function hasPolicy({ metadata: { annotations } }: Definition): boolean {
  return annotations !== undefined && annotations !== null && policyAnnotation in annotations;
}

/** Adds the annotation as a line of its own; undefined if the document is not in block style. */
function withLine(document: string, read: ReadYamlDocument): string | undefined {
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
  return differsOnlyByAnnotation(read(headOf(document)), read(headOf(text))) ? text : undefined;
}

/** The indentation of the next line that is neither empty nor a comment. */
function indentAfter(lines: readonly string[], at: number): string {
  const next = lines.find((line, index) => index > at && /^\s*[^\s#]/.test(line));
  return /^ */.exec(next ?? "")?.[0] ?? "";
}

function childIndent(lines: readonly string[], at: number, indent: string): string {
  const found = indentAfter(lines, at);
  return found.length > indent.length ? found : `${indent}  `;
}

function differsOnlyByAnnotation(before: unknown, after: unknown): boolean {
  const own = definitionSchema.safeParse(before);
  const annotated = definitionSchema.safeParse(after);
  if (!own.success || !annotated.success) return false;
  const { metadata } = own.data;
  const annotations = { ...metadata.annotations, [policyAnnotation]: keepPolicy };
  return isDeepStrictEqual(annotated.data, { ...own.data, metadata: { ...metadata, annotations } });
}

/** Splits a list into a document for each definition, and one for the other items. */
function splitList(
  document: string,
  { list, definitions, others }: Extract<Found, { readonly kind: "list" }>,
  read: ReadYamlDocument,
): string {
  const rest = others.length === 0 ? [] : [`${toHelmJson({ ...list, items: others })}\n`];
  const each = definitions.map((definition) => inBlockStyle(definition, read));
  return rewritten(document, [...rest, ...each].join("---\n"));
}

/** Keeps the leading comments, in which Helm writes the template's name. */
function rewritten(document: string, text: string): string {
  const [header = ""] = /^(?:[ \t]*(?:#.*)?\r?\n)*/.exec(document) ?? [];
  return `${header === "" ? "\n" : header}${text}`;
}

/** In block style, with the annotation unless the definition has a policy. */
function inBlockStyle(definition: Definition, read: ReadYamlDocument): string {
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
  return hasPolicy(definition) ? text : (withLine(text, read) ?? text);
}

function entries(map: Readonly<Record<string, unknown>>, indent: string): readonly string[] {
  return Object.entries(map).map(
    ([key, value]) => `${indent}${toHelmJson(key)}: ${toHelmJson(value)}`,
  );
}
