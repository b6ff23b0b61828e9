/**
 * Referenced objects: Secrets and ConfigMaps of a workspace that deployments refer to, as credentials for a chart source or as
 * downstream resources. The hub sends an agent those that its own deployments refer to, and no others.
 */
import * as z from "zod";
import {
  accessSecretKeys,
  certificateKeys,
  proxyKeys,
  sourceSecretKeys,
} from "../../charts/source/credentials/index.ts";
import { AppError, defineErrors, messageOf } from "../../runtime/errors/index.ts";
import {
  type DeploymentContent,
  type Packed,
  PackedProblem,
  pack,
  unpack,
} from "../content/index.ts";
import { formatObjectRef, type ObjectRef } from "../fleet/index.ts";

export const referencedObjectErrors = defineErrors({
  REFERENCED_OBJECT_INVALID: {
    retryable: false,
    help: "A Secret or ConfigMap that the hub sent to an agent has another digest or shape than expected, so the agent does not use it. Restart the agent; the hub then sends it again.",
  },
});

/** The API server limits the data of a Secret to 1 MiB; with names and base64 no object is larger than this. */
const maxObjectBytes = 4 * 1024 * 1024;

const textsSchema = z.record(z.string(), z.string());

const objectDataSchema = z.object({
  /** The type of a Secret. */
  type: z.string().optional(),
  /** As in the object: base64 in a Secret, text in a ConfigMap. */
  data: textsSchema.optional(),
  /** The binary data of a ConfigMap, in base64. */
  binaryData: textsSchema.optional(),
  labels: textsSchema.optional(),
  annotations: textsSchema.optional(),
});

/** The part of an object that may be sent to agents, and that its downstream copies have. */
export type ReferencedObjectData = Readonly<z.infer<typeof objectDataSchema>>;

/** What is used of one object: keys of its data, sorted, or the object with its labels and annotations. */
export type UsedKeys = "whole" | readonly string[];

/** What is used of each object, by its reference (`Secret/NAME`). */
export type UsedObjects = ReadonlyMap<string, UsedKeys>;

/** The references of a content, each once. */
export function referencedObjectsOf(content: DeploymentContent): readonly string[] {
  return [...usedBy(content).keys()];
}

export function usedBy(content: DeploymentContent): UsedObjects {
  return addUsed(usesOf(content).map(([ref, used]) => [formatObjectRef(ref), used]));
}

/** All that any of several uses of one object needs. */
export function addUsed(uses: Iterable<readonly [ref: string, used: UsedKeys]>): UsedObjects {
  const all = new Map<string, UsedKeys>();
  for (const [ref, used] of uses) {
    const before = all.get(ref) ?? [];
    const isWhole = used === "whole" || before === "whole";
    all.set(ref, isWhole ? "whole" : [...new Set([...before, ...used])].toSorted());
  }
  return all;
}

/** As in `BundleDeployment.spec.referencedObjects`, sorted. */
export function formatUsed(objects: UsedObjects): readonly string[] {
  return [...objects]
    .map(([ref, used]) =>
      used === "whole" ? escaped(ref) : `${escaped(ref)}#${used.map(escaped).join(",")}`,
    )
    .toSorted();
}

/** The inverse of `formatUsed`. */
export function parseUsed(texts: readonly string[]): UsedObjects {
  return addUsed(
    texts.map((text) => {
      const [ref = "", keys] = text.split("#", 2);
      const used = keys?.split(",").filter((key) => key !== "");
      return [unescaped(ref), used?.map(unescaped) ?? "whole"];
    }),
  );
}

/** No object has such a name or such a key, but an object that refers to one must not be given another. */
function escaped(text: string): string {
  return text.replaceAll("#", "%23").replaceAll(",", "%2C");
}

function unescaped(text: string): string {
  return text.replaceAll("%23", "#").replaceAll("%2C", ",");
}

function usesOf({
  access,
  copies = [],
  hubValues = [],
}: DeploymentContent): readonly (readonly [ref: ObjectRef, used: UsedKeys])[] {
  const sources = [
    ...(access.source === undefined ? [] : [access.source]),
    ...(access.included ?? []),
    ...(access.dependencies ?? []),
  ];
  const secrets: readonly (readonly [name: string | undefined, keys: readonly string[]])[] = [
    [access.secret, accessSecretKeys],
    ...sources.flatMap(({ kind, url = "", secret, certSecret, proxySecret }) => {
      const hasCertSecret = certSecret !== undefined;
      return [
        [secret, sourceSecretKeys(kind, url, { hasCertSecret })],
        [certSecret, certificateKeys],
        [proxySecret, proxyKeys],
      ] as const;
    }),
  ];
  return [
    ...secrets.flatMap(([name, keys]) =>
      name === undefined ? [] : [[{ kind: "Secret", name }, keys] as const],
    ),
    ...copies.map((ref) => [ref, "whole"] as const),
    ...hubValues.flatMap((source) =>
      source.object === undefined ? [[source, [source.key]] as const] : [],
    ),
  ];
}

export async function packReferencedObject(object: ReferencedObjectData): Promise<Packed> {
  // No size check: the API server accepts no object that is too large.
  return await pack(object, () => undefined);
}

/** Unpacks an object and checks its digest and shape. Throws REFERENCED_OBJECT_INVALID. */
export async function unpackReferencedObject(
  ref: ObjectRef,
  packed: Packed,
): Promise<ReferencedObjectData> {
  try {
    return await unpack(packed, objectDataSchema, maxObjectBytes);
  } catch (thrown) {
    if (!(thrown instanceof PackedProblem)) throw thrown;
    throw new AppError(
      referencedObjectErrors.REFERENCED_OBJECT_INVALID,
      `invalid ${ref.kind} ${ref.name} from the hub: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}
