/**
 * What one agent is supplied with besides deployments: what it is, and what its deployments name, each message made of how
 * that is when it is sent.
 */
import type { HubMessage, ObjectRef, ObservedObject } from "@flotilla/proto/messages.ts";
import { type BundleDeployment, formatObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import { clusterInfoDigest, packClusterInfo } from "@flotilla/shared/referenced/cluster-info.ts";
import { factsOf } from "../supply/facts-of.ts";
import { suppliesNamedBy } from "../supply/named-by-deployments.ts";
import { planSupplies, planSupply, type SupplyPlan } from "../supply/plan-supplies.ts";
import type { WorkspaceObject } from "../supply/workspace-object.ts";

export interface SupplyBookDeps {
  /** What the agent said that it holds. */
  readonly held: readonly ObservedObject[];
  readonly factsDigest: string | undefined;
  /** All BundleDeployments of the cluster, those on their way out included. */
  readonly deployments: () => readonly BundleDeployment[];
  readonly cluster: () => Cluster | undefined;
  readonly sourceOf: (ref: ObjectRef) => WorkspaceObject;
}

export interface SupplyBook {
  /** What differs from what the agent said that it holds. */
  plan(): SupplyPlan;
  /** The message about one object that is due now; `undefined` when the agent is up to date. */
  next(ref: ObjectRef): HubMessage | undefined;
  nextFacts(): Promise<HubMessage | undefined>;
}

export function createSupplyBook(deps: SupplyBookDeps): SupplyBook {
  const { deployments, cluster, sourceOf } = deps;
  const held = new Map(deps.held.map((holding) => [formatObjectRef(holding), holding]));
  let { factsDigest } = deps;

  return {
    plan: () => planSupplies(deps.held, new Set(deployments().flatMap(suppliesNamedBy)), sourceOf),
    next(ref) {
      const key = formatObjectRef(ref);
      const { kind, name } = ref;
      const source = sourceOf(ref);
      const isNamed = deployments().some((one) => suppliesNamedBy(one).includes(key));
      const step = planSupply(ref, { held: held.get(key), isNamed, source });
      switch (step.kind) {
        case "nothing":
          return undefined;
        case "withdraw":
          held.delete(key);
          return { kind: "referencedObjectWithdrawal", object: { kind, name } };
        case "send": {
          if (source.kind !== "present") {
            held.set(key, { kind, name });
            return { kind: "referencedObject", object: { kind, name } };
          }
          const { digest, bytes: content } = source.packed;
          held.set(key, { kind, name, digest });
          return { kind: "referencedObject", object: { kind, name, packed: { digest, content } } };
        }
      }
    },
    async nextFacts() {
      const current = cluster();
      if (current === undefined) return undefined;
      const facts = factsOf(current);
      // Thousands of agents come back at once and hold theirs: to compress them for that takes more than all the rest here.
      if (clusterInfoDigest(facts) === factsDigest) return undefined;
      const { digest, bytes: content } = await packClusterInfo(facts);
      factsDigest = digest;
      return { kind: "clusterInfo", digest, content };
    },
  };
}
