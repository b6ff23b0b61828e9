/** What a cluster is on the hub, as far as templates of values may ask for it: the same in every deployment. */
import { z } from "zod";
import { type Packed, PackedProblem, pack, packedDigest, unpack } from "../content/packed.ts";
import { AppError, messageOf } from "../errors/app-error.ts";
import { referencedObjectErrors } from "./referenced-object.ts";

/** Kubernetes keeps no object larger than this. */
const maxFactsBytes = 4 * 1024 * 1024;

const clusterFactsSchema = z.object({
  /** The Cluster's, on the hub. */
  namespace: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  /** Its `spec.templateValues`. */
  templateValues: z.record(z.string(), z.unknown()),
});

export type ClusterInfo = Readonly<z.infer<typeof clusterFactsSchema>>;

export async function packClusterInfo(facts: ClusterInfo): Promise<Packed> {
  return await pack(facts, () => undefined);
}

/** The digest that `packFacts` gives. */
export function clusterInfoDigest(facts: ClusterInfo): string {
  return packedDigest(facts);
}

/** Opens packed facts, checking their digest and their shape. Throws SUPPLY_INVALID. */
export async function unpackClusterInfo(packed: Packed): Promise<ClusterInfo> {
  try {
    return await unpack(packed, clusterFactsSchema, maxFactsBytes);
  } catch (thrown) {
    if (!(thrown instanceof PackedProblem)) throw thrown;
    throw new AppError(
      referencedObjectErrors.SUPPLY_INVALID,
      `what the hub sent of the cluster itself cannot be used: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}
