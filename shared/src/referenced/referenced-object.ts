/**
 * What the hub hands out besides deployments: Secrets and ConfigMaps of a cluster's workspace that its deployments name,
 * as credentials for a chart's source or to be copied into a release's namespace. A cluster is supplied with what its own
 * deployments name and nothing else.
 */
import { z } from "zod";
import { type Packed, PackedProblem, pack, unpack } from "../content/packed.ts";
import { AppError, defineErrors, messageOf } from "../errors/app-error.ts";

export const referencedObjectErrors = defineErrors({
  REFERENCED_OBJECT_INVALID: {
    retryable: false,
    help: "A Secret or ConfigMap that the hub sent to an agent does not have the digest or the shape that it should have. It is not used; restart the agent, so that it is sent again.",
  },
});

/** The API server's own limit for a Secret's data is 1 MiB; with its names, and base64, none is larger than this. */
const maxSupplyBytes = 4 * 1024 * 1024;

export const objectRefSchema = z.object({
  kind: z.enum(["Secret", "ConfigMap"]),
  name: z.string(),
});

/** By what it is called in the workspace. */
export type ObjectRef = Readonly<z.infer<typeof objectRefSchema>>;

const textsSchema = z.record(z.string(), z.string());

const supplyObjectSchema = z.object({
  /** A Secret's. */
  type: z.string().optional(),
  /** As in the object: base64 in a Secret, text in a ConfigMap. */
  data: textsSchema.optional(),
  /** A ConfigMap's, in base64. */
  binaryData: textsSchema.optional(),
  labels: textsSchema.optional(),
  annotations: textsSchema.optional(),
});

/** What is supplied of an object: what a copy of it has too. */
export type ReferencedObjectData = Readonly<z.infer<typeof supplyObjectSchema>>;

/** `Secret/NAME` or `ConfigMap/NAME`, as in `BundleDeployment.spec.supplies`. */
export function formatObjectRef({ kind, name }: ObjectRef): string {
  return `${kind}/${name}`;
}

/** Undefined for a text that is no key. */
export function parseObjectRef(key: string): ObjectRef | undefined {
  const at = key.indexOf("/");
  const parsed = objectRefSchema.safeParse({ kind: key.slice(0, at), name: key.slice(at + 1) });
  return parsed.success && parsed.data.name !== "" ? parsed.data : undefined;
}

export async function packReferencedObject(object: ReferencedObjectData): Promise<Packed> {
  // The API server keeps no object that is too large.
  return await pack(object, () => undefined);
}

/** Opens what was supplied, checking its digest and its shape. Throws SUPPLY_INVALID. */
export async function unpackReferencedObject(ref: ObjectRef, packed: Packed): Promise<ReferencedObjectData> {
  try {
    return await unpack(packed, supplyObjectSchema, maxSupplyBytes);
  } catch (thrown) {
    if (!(thrown instanceof PackedProblem)) throw thrown;
    throw new AppError(
      referencedObjectErrors.SUPPLY_INVALID,
      `the ${ref.kind} ${ref.name} that the hub sent cannot be used: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}
