/** Reads and writes the BundleRollouts of a Bundle. What the hub pinned has its signature; all others are ignored. */
import type { Bundle } from "@flotilla/shared/api";
import {
  type BundleRollout,
  type BundleRolloutSpec,
  type BundleRolloutStatus,
  bundleRollouts,
  rolloutApiVersion,
  rolloutBundleLabel,
} from "@flotilla/shared/api/rollout";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import { isAlreadyExists, isNotFound, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { byRolledOutBundle } from "../../base/index.ts";
import type { DataSigner } from "../../rules/index.ts";

export interface RolloutObjectsDeps {
  readonly rest: KubeRest;
  readonly rollouts: Store<BundleRollout>;
  readonly signer: DataSigner;
  /** Called before a status is written, with the BundleRollout as it is stored; what it records is stored first. */
  readonly beforeWrite?: ((rollout: BundleRollout, next: BundleRolloutStatus) => void) | undefined;
}

/** What a new BundleRollout pins. */
export type PinnedRollout = Pick<
  BundleRolloutSpec,
  "app" | "revision" | "version" | "targets" | "targetRestrictions" | "targetCustomizationMode"
>;

export interface RolloutObjects {
  /** Those that the hub made for this Bundle, by number; not those that are being deleted. */
  of(bundle: Bundle): readonly BundleRollout[];
  /** Those that the hub made for any Bundle of a namespace. */
  inNamespace(namespace: string): readonly BundleRollout[];
  /** Creates one with this number. `undefined` when its name is taken: to be tried again with another one. */
  create(bundle: Bundle, pinned: PinnedRollout, number: number): Promise<BundleRollout | undefined>;
  /** Stores a status; throws a conflict when somebody wrote the object meanwhile. */
  store(rollout: BundleRollout, status: BundleRolloutStatus): Promise<BundleRollout>;
  remove(rollout: BundleRollout): Promise<void>;
}

export function createRolloutObjects({
  rest,
  rollouts,
  signer,
  beforeWrite,
}: RolloutObjectsDeps): RolloutObjects {
  // Objects of a store are replaced, never changed, and each reconcile asks.
  const signed = new WeakMap<BundleRollout["spec"], boolean>();

  function isSigned(rollout: BundleRollout): boolean {
    const known = signed.get(rollout.spec);
    if (known !== undefined) return known;
    const valid = signer.isSigned(signedData(rollout), rollout.spec.signature);
    signed.set(rollout.spec, valid);
    return valid;
  }

  return {
    of: (bundle) =>
      rollouts
        .byIndex(byRolledOutBundle, keyOf(bundle))
        .filter(
          (rollout) =>
            rollout.metadata.deletionTimestamp === undefined &&
            rollout.spec.bundle.uid === bundle.metadata.uid &&
            isSigned(rollout),
        )
        .toSorted((a, b) => a.spec.number - b.spec.number),
    inNamespace: (namespace) => rollouts.byIndex(byNamespace, namespace).filter(isSigned),
    async create(bundle, pinned, number) {
      const unsigned = newRollout(bundle, pinned, number);
      const signature = signer.sign(signedData(unsigned));
      const object = { ...unsigned, spec: { ...unsigned.spec, signature } };
      try {
        const created = await rest.create(bundleRollouts, object);
        rollouts.wrote(created);
        return created;
      } catch (thrown) {
        if (!isAlreadyExists(thrown)) throw thrown;
      }
      // Our cache did not have it, or somebody else has taken the name.
      const existing = await rest.get(bundleRollouts, object.metadata);
      if (existing !== undefined) rollouts.wrote(existing);
      return undefined;
    },
    async store(rollout, status) {
      const { generation } = rollout.metadata;
      beforeWrite?.(rollout, status);
      const observed = {
        ...status,
        ...(generation !== undefined && { observedGeneration: generation }),
      };
      const stored = await rest.replace(
        bundleRollouts,
        { ...rollout, status: observed },
        { subresource: "status" },
      );
      rollouts.wrote(stored);
      return stored;
    },
    async remove({ metadata }) {
      const { uid } = metadata;
      try {
        await rest.delete(bundleRollouts, metadata, { ...(uid !== undefined && { uid }) });
      } catch (thrown) {
        if (!isNotFound(thrown)) throw thrown;
      }
    },
  };
}

function newRollout(bundle: Bundle, pinned: PinnedRollout, number: number): BundleRollout {
  const { name, namespace = "", uid = "" } = bundle.metadata;
  return {
    apiVersion: rolloutApiVersion,
    kind: "BundleRollout",
    metadata: {
      name: `${name}-${number}`,
      namespace,
      labels: { [rolloutBundleLabel]: name },
      ownerReferences: [
        { apiVersion: bundle.apiVersion ?? "", kind: "Bundle", name, uid, controller: true },
      ],
    },
    spec: { bundle: { name, uid }, ...pinned, number, signature: "" },
  };
}

/** All that is pinned, for one name in one namespace. */
function signedData({ metadata, spec }: BundleRollout): readonly unknown[] {
  const { bundle, app, number, revision, version, targets, targetRestrictions } = spec;
  const { targetCustomizationMode: mode } = spec;
  const { namespace, name } = metadata;
  const always = { bundle, app, number, revision, version, targets, targetRestrictions };
  const pinned = { ...always, ...(mode !== undefined && { mode }) };
  return ["BundleRollout", namespace, name, pinned];
}
