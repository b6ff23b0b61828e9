/**
 * The objects of a release, from its manifest. Pure.
 *
 * Manifests can have megabytes, mostly CRDs and dashboards, and only four fields of each object matter. So the lines of other
 * top-level fields are removed before the YAML is parsed; if that gives no result, the whole document is parsed.
 */
import { canonicalJson } from "@flotilla/shared/json";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import * as z from "zod";

export type ReadYamlDocument = (yaml: string) => unknown;

/** Undefined for YAML that is invalid: the cluster accepted it, so Helm reads it differently. */
export function readYamlDocument(yaml: string): unknown {
  try {
    return parseHelmYaml(yaml, { name: "manifest" });
  } catch {
    return undefined;
  }
}

/** An object of a manifest. */
export interface OwnedObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** As in the manifest; absent: the release's namespace. */
  readonly namespace?: string;
  readonly name: string;
  /** Kubernetes deletes it once it has ended: a Job with `ttlSecondsAfterFinished`, a CertificateSigningRequest. */
  readonly isDeletedWhenEnded?: true;
  /** The time after which Kubernetes deletes it, as in the manifest: the `expiration` of a bootstrap token. */
  readonly expiresAt?: string;
}

const tokenType = "bootstrap.kubernetes.io/token";
const tokenSchema = z.object({ expiration: z.string().optional().catch(undefined) }).catch({});
const objectSchema = z.object({
  // The agent requests it from the API server under this path, with its own rights, and a tenant can write release Secrets.
  apiVersion: z.string().regex(/^([a-z0-9][a-z0-9.-]*\/)?[a-z0-9]+$/i),
  kind: z.string().min(1),
  metadata: z.object({ name: z.string().min(1), namespace: z.string().nullish() }),
  spec: z.object({ ttlSecondsAfterFinished: z.number().optional().catch(undefined) }).catch({}),
  type: z.unknown().optional(),
  data: tokenSchema,
  stringData: tokenSchema,
});
const listSchema = z.object({ kind: z.string().endsWith("List"), items: z.array(z.unknown()) });

/** Skips documents that are invalid: the cluster accepted them, so Helm reads them differently. */
export function ownedObjects(manifest: string, read: ReadYamlDocument): readonly OwnedObject[] {
  const found: OwnedObject[] = [];
  for (const document of manifest.split(/^---.*$/m)) {
    if (document.trim() === "") continue;
    const short = toOwned(read(headOf(document)));
    const mustReadAll =
      (short?.kind === "Job" && document.includes("ttlSecondsAfterFinished")) ||
      (short?.kind === "Secret" && document.includes(tokenType));
    if (short !== undefined && !short.kind.endsWith("List") && !mustReadAll) found.push(short);
    else found.push(...itemsOf(read(document)).flatMap((item) => toOwned(item) ?? []));
  }
  return found;
}

/**
 * All objects of a manifest, or undefined if a part of it may be read differently by Helm: for a manifest that somebody else
 * may have written.
 */
export function exactObjects(
  manifest: string,
  read: ReadYamlDocument,
): readonly OwnedObject[] | undefined {
  const found: OwnedObject[] = [];
  for (const line of manifest.matchAll(/^---(.*)$/gm))
    if (!/^\s*(#.*)?$/.test(line[1] ?? "")) return undefined;
  for (const document of manifest.split(/^---.*$/m)) {
    if (document.split("\n").every((line) => /^\s*(#.*)?$/.test(line))) continue;
    for (const item of itemsOf(read(document))) {
      const object = toOwned(item);
      if (object === undefined || object.kind.endsWith("List")) return undefined;
      found.push(object);
    }
  }
  return found;
}

/** As `ownedObjects`, in the same order, with all fields: as canonical JSON, in which numbers keep all their digits. */
export function wholeObjects(manifest: string, read: ReadYamlDocument): readonly string[] {
  return manifest
    .split(/^---.*$/m)
    .filter((document) => document.trim() !== "")
    .flatMap((document) => itemsOf(read(document)))
    .flatMap((item) => (toOwned(item) === undefined ? [] : [canonicalJson(item)]));
}

function itemsOf(value: unknown): readonly unknown[] {
  const list = listSchema.safeParse(value);
  return list.success ? list.data.items : [value];
}

function toOwned(value: unknown): OwnedObject | undefined {
  const parsed = objectSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { apiVersion, kind, metadata } = parsed.data;
  const { name, namespace } = metadata;
  const expiresAt = expirationOf(parsed.data);
  return {
    apiVersion,
    kind,
    name,
    ...(typeof namespace === "string" && namespace !== "" && { namespace }),
    ...(isDeletedWhenEnded(parsed.data) && { isDeletedWhenEnded: true }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

function isDeletedWhenEnded({ apiVersion, kind, spec }: z.infer<typeof objectSchema>): boolean {
  if (kind === "CertificateSigningRequest") return apiVersion.startsWith("certificates.k8s.io/");
  const isJob = kind === "Job" && apiVersion.startsWith("batch/");
  return isJob && spec.ttlSecondsAfterFinished !== undefined;
}

/** Undefined: it has none, or is something else. */
function expirationOf(object: z.infer<typeof objectSchema>): string | undefined {
  const { apiVersion, kind, type, data, stringData } = object;
  if (apiVersion !== "v1" || kind !== "Secret" || type !== tokenType) return undefined;
  if (stringData.expiration !== undefined) return stringData.expiration;
  return data.expiration && Buffer.from(data.expiration, "base64").toString();
}

/** The lines of `apiVersion`, `kind` and `metadata`, of a document in block style. */
export function headOf(document: string): string {
  const lines: string[] = [];
  let isIncluded = false;
  for (const line of document.split("\n")) {
    if (/^[^\s#]/.test(line)) isIncluded = /^(apiVersion|kind|metadata) *:/.test(line);
    if (isIncluded && !line.startsWith("#")) lines.push(line);
  }
  return lines.join("\n");
}
