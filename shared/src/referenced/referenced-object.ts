/**
 * Referenced objects: Secrets and ConfigMaps of a workspace that deployments refer to, as credentials for a chart source or as
 * downstream resources. The hub sends an agent those that its own deployments refer to, and no others.
 */
import * as z from "zod";
import { formatObjectRef, type ObjectRef } from "../api/index.ts";
import {
  type DeploymentContent,
  type Packed,
  PackedProblem,
  pack,
  unpack,
} from "../content/index.ts";
import { AppError, defineErrors, messageOf } from "../errors/index.ts";

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
  /** Of a Secret. */
  type: z.string().optional(),
  /** As in the object: base64 in a Secret, text in a ConfigMap. */
  data: textsSchema.optional(),
  /** Of a ConfigMap, in base64. */
  binaryData: textsSchema.optional(),
  labels: textsSchema.optional(),
  annotations: textsSchema.optional(),
});

/** The part of an object that is sent to agents, and that its downstream copies have. */
export type ReferencedObjectData = Readonly<z.infer<typeof objectDataSchema>>;

/** The objects that a content refers to, as in `BundleDeployment.spec.referencedObjects`: sorted, without duplicates. */
export function referencedObjectsOf({
  access,
  copies = [],
  hubValues = [],
}: DeploymentContent): readonly string[] {
  const sources = [
    ...(access.source === undefined ? [] : [access.source]),
    ...(access.included ?? []),
    ...(access.dependencies ?? []),
  ];
  const secrets = [
    access.secret,
    ...sources.flatMap(({ secret, certSecret, proxySecret }) => [secret, certSecret, proxySecret]),
  ].filter((name) => name !== undefined);
  const refs: readonly ObjectRef[] = [
    ...secrets.map((name) => ({ kind: "Secret" as const, name })),
    ...copies,
    ...hubValues,
  ];
  return [...new Set(refs.map(formatObjectRef))].toSorted();
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
