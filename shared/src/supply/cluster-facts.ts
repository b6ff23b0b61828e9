/** What a cluster is on the hub, as far as templates of values may ask for it: the same in every deployment. */
import { z } from "zod";
import { type Packed, PackedProblem, pack, packedDigest, unpack } from "../content/packed.ts";
import { AppError, messageOf } from "../errors/app-error.ts";
import { supplyErrors } from "./supply.ts";

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

export type ClusterFacts = Readonly<z.infer<typeof clusterFactsSchema>>;

export async function packFacts(facts: ClusterFacts): Promise<Packed> {
  return await pack(facts, () => undefined);
}

/** The digest that `packFacts` gives. */
export function factsDigestOf(facts: ClusterFacts): string {
  return packedDigest(facts);
}

/** Opens packed facts, checking their digest and their shape. Throws SUPPLY_INVALID. */
export async function unpackFacts(packed: Packed): Promise<ClusterFacts> {
  try {
    return await unpack(packed, clusterFactsSchema, maxFactsBytes);
  } catch (thrown) {
    if (!(thrown instanceof PackedProblem)) throw thrown;
    throw new AppError(
      supplyErrors.SUPPLY_INVALID,
      `what the hub sent of the cluster itself cannot be used: ${messageOf(thrown)}`,
      { cause: thrown },
    );
  }
}
