/** The fields of a Cluster that values templates may use; the same for all deployments of the cluster. */
import * as z from "zod";
import { AppError, messageOf } from "../../runtime/errors/index.ts";
import { type Packed, PackedProblem, pack, packedDigest, unpack } from "../content/index.ts";
import { referencedObjectErrors } from "./referenced-object.ts";

/** Larger than any object that an API server accepts. */
const maxClusterInfoBytes = 4 * 1024 * 1024;

const clusterInfoSchema = z.object({
  /** The namespace of the Cluster on the hub. */
  namespace: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  /** `spec.templateValues` of the Cluster. */
  templateValues: z.record(z.string(), z.unknown()),
});

export type ClusterInfo = Readonly<z.infer<typeof clusterInfoSchema>>;

export async function packClusterInfo(info: ClusterInfo): Promise<Packed> {
  return await pack(info, () => undefined);
}

/** The digest of `packClusterInfo`, without compressing. */
export function digestClusterInfo(info: ClusterInfo): string {
  return packedDigest(info);
}

/** Unpacks a ClusterInfo and checks its digest and shape. Throws REFERENCED_OBJECT_INVALID. */
export async function unpackClusterInfo(packed: Packed): Promise<ClusterInfo> {
  try {
    return await unpack(packed, clusterInfoSchema, maxClusterInfoBytes);
  } catch (thrown) {
    if (!(thrown instanceof PackedProblem)) throw thrown;
    throw new AppError(
      referencedObjectErrors.REFERENCED_OBJECT_INVALID,
      `invalid cluster info from the hub: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}
