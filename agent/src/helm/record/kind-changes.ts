/**
 * The manifest of a release that is uninstalled although the cluster does not serve kinds of it any more, or serves them in another
 * version: Helm deletes nothing of a release while it does not know the kind of one object. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { toHelmJson } from "@flotilla/shared/yaml";
import * as z from "zod";
import { documentSeparator } from "./crd-documents.ts";
import { headOf, type ReadYamlDocument } from "./manifest.ts";

/** `servedAs`: the apiVersion in which the cluster has the kind; absent: the kind is gone, and its objects with it. */
export const kindChange = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  servedAs: z.string().exactOptional(),
});
export type KindChange = Readonly<z.infer<typeof kindChange>>;

const headSchema = z.looseObject({ apiVersion: z.string(), kind: z.string() });
const listSchema = z.looseObject({
  kind: z.string().endsWith("List"),
  items: z.array(z.unknown()),
});

/**
 * The manifest without the objects of kinds that are gone, and with the others in a version that is served. All other documents stay
 * as they are, byte for byte; so does one that cannot be parsed, at which Helm fails.
 */
export function withKindChanges(
  manifest: string,
  changes: readonly KindChange[],
  read: ReadYamlDocument,
): string {
  if (!changes.some(({ kind }) => manifest.includes(kind))) return manifest;
  return manifest
    .split(documentSeparator)
    .map((document) => changed(document, changes, read))
    .join("");
}

function changed(document: string, changes: readonly KindChange[], read: ReadYamlDocument): string {
  if (!changes.some(({ kind }) => document.includes(kind))) return document;
  const short = headSchema.safeParse(read(headOf(document)));
  const value = short.success && !short.data.kind.endsWith("List") ? short.data : read(document);
  const list = listSchema.safeParse(value);
  if (list.success) return changedList(document, list.data, changes);
  const change = changeOf(value, changes);
  if (change === undefined) return document;
  if (change.servedAs === undefined) return "\n";
  return (
    withApiVersion(document, change.servedAs, read) ??
    inJson(document, inVersion(read(document), change.servedAs))
  );
}

function changeOf(value: unknown, changes: readonly KindChange[]): KindChange | undefined {
  const head = headSchema.safeParse(value);
  if (!head.success) return undefined;
  const { apiVersion, kind } = head.data;
  return changes.find((change) => change.apiVersion === apiVersion && change.kind === kind);
}

function changedList(
  document: string,
  list: z.infer<typeof listSchema>,
  changes: readonly KindChange[],
): string {
  if (list.items.every((item) => changeOf(item, changes) === undefined)) return document;
  const items = list.items.flatMap((item) => {
    const change = changeOf(item, changes);
    if (change === undefined) return [item];
    return change.servedAs === undefined ? [] : [inVersion(item, change.servedAs)];
  });
  return items.length === 0 ? "\n" : inJson(document, { ...list, items });
}

/** Undefined: the document is not in block style. */
function withApiVersion(
  document: string,
  apiVersion: string,
  read: ReadYamlDocument,
): string | undefined {
  const text = document.replace(/^apiVersion *:.*$/m, `apiVersion: ${apiVersion}`);
  const expected = inVersion(read(headOf(document)), apiVersion);
  return text !== document && isDeepStrictEqual(read(headOf(text)), expected) ? text : undefined;
}

function inVersion(value: unknown, apiVersion: string): unknown {
  const head = headSchema.safeParse(value);
  return head.success ? { ...head.data, apiVersion } : undefined;
}

function inJson(document: string, value: unknown): string {
  return value === undefined ? document : `\n${toHelmJson(value)}\n`;
}
