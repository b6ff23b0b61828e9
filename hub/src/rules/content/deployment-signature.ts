/**
 * Distinguishes what the hub wrote into a BundleDeployment from what somebody else did (docs/adr/0046). The spec says which stored
 * content an agent gets, and which Secrets of any namespace: a user who may update the BundleDeployments of one cluster must not decide
 * that.
 */
import { isDeepStrictEqual } from "node:util";
import type { Bundle, BundleDeployment } from "@flotilla/shared/api";
import { bundleUidAnnotation, deploymentSignatureAnnotation } from "@flotilla/shared/api/names";
import type { Store } from "@flotilla/shared/kube/cache";
import { bundleKeyOf } from "../../base/index.ts";
import { type DataSigner, planKey } from "./plan-key.ts";

export interface DeploymentSigner {
  /** Whether the hub wrote it, for a Bundle that may be gone by now. */
  isSigned(deployment: BundleDeployment): boolean;
  /** Whether the hub wrote it for this Bundle, and not for an earlier one of the same name. */
  isSignedFor(deployment: BundleDeployment, bundleUid: string | undefined): boolean;
  /**
   * To be told of each change of the store: a report changes nothing that is signed, so what is known of the object before holds for the
   * one after it. An HMAC on a processor that was idle costs as much as all that follows from the report.
   */
  replaced(before: BundleDeployment, after: BundleDeployment): void;
  /** The same BundleDeployment with a signature for its Bundle, its namespace, its name, its contents and its references. */
  signed(deployment: BundleDeployment, bundleUid: string | undefined): BundleDeployment;
}

export function createDeploymentSigner(signer: DataSigner): DeploymentSigner {
  // Objects of a store are replaced, never changed. A change of one cluster asks about the deployments of all.
  const known = new WeakMap<BundleDeployment, boolean>();

  function isSigned(deployment: BundleDeployment): boolean {
    const before = known.get(deployment);
    if (before !== undefined) return before;
    const signature = deployment.metadata.annotations?.[deploymentSignatureAnnotation];
    const valid = signature !== undefined && signer.isSigned(signedData(deployment), signature);
    known.set(deployment, valid);
    return valid;
  }

  return {
    isSigned,
    isSignedFor: (deployment, bundleUid) =>
      bundleUidOf(deployment) === bundleUid && isSigned(deployment),
    replaced(before, after) {
      const valid = known.get(before);
      if (valid !== undefined && isSignedAlike(before, after)) known.set(after, valid);
    },
    signed(deployment, bundleUid = "") {
      const named = annotated(deployment, { [bundleUidAnnotation]: bundleUid });
      const signature = signer.sign(signedData(named));
      return annotated(named, { [deploymentSignatureAnnotation]: signature });
    },
  };
}

function annotated(
  deployment: BundleDeployment,
  added: Readonly<Record<string, string>>,
): BundleDeployment {
  const annotations = { ...deployment.metadata.annotations, ...added };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}

/** What is written beside the fields that are signed, to compare it. */
export function signatureOf(deployment: BundleDeployment): string {
  const signature = deployment.metadata.annotations?.[deploymentSignatureAnnotation];
  return `${bundleUidOf(deployment)} ${signature}`;
}

/** Whether one signature is right for both, or wrong for both. */
function isSignedAlike(a: BundleDeployment, b: BundleDeployment): boolean {
  return (
    a.metadata.namespace === b.metadata.namespace &&
    a.metadata.name === b.metadata.name &&
    signatureOf(a) === signatureOf(b) &&
    isDeepStrictEqual(a.spec, b.spec)
  );
}

function bundleUidOf({ metadata }: BundleDeployment): string | undefined {
  return metadata.annotations?.[bundleUidAnnotation];
}

/** For one BundleDeployment of one cluster alone: the namespace is the cluster's, and references are relative to its workspace. */
function signedData(deployment: BundleDeployment): readonly unknown[] {
  const { namespace, name } = deployment.metadata;
  const { deploymentID, stagedDeploymentID, referencedObjects = [], promotion } = deployment.spec;
  const contents = [deploymentID, stagedDeploymentID, referencedObjects];
  // A rollback gives back what the promotion says. Without one the signature is the same as a hub without staged rollouts makes.
  const promoted = promotion === undefined ? [] : [promotion];
  return ["BundleDeployment", bundleUidOf(deployment), namespace, name, ...contents, ...promoted];
}

/** The key of the hub's signatures, as a replica knows it. */
export interface SigningKey {
  readonly bytes: Uint8Array;
  /** Whether a leader has signed every BundleDeployment with it. */
  readonly signsDeployments: boolean;
}

/** What a replica that serves agents believes. */
export interface DeploymentTrust {
  /** Whether an agent may get the contents and the objects that it refers to: the hub wrote it, for a Bundle that exists. */
  isTrusted(deployment: BundleDeployment): boolean;
  /** Whether the hub wrote it. The spec of a deleted one still says what is uninstalled. */
  isSigned(deployment: BundleDeployment): boolean;
  /** The key of the plan by which it was promoted; undefined: none can be derived yet, or no rollout promoted it. Secret. */
  planKeyOf(deployment: BundleDeployment): Uint8Array | undefined;
}

/**
 * Until a leader has signed all of them with the key, deployments of an older hub have no signature and count as before: otherwise agents
 * would miss a change of a Secret meanwhile.
 */
export function createDeploymentTrust(
  keyInUse: () => SigningKey,
  signerOf: (key: Uint8Array) => DataSigner,
  bundles: Pick<Store<Bundle>, "get">,
): DeploymentTrust {
  let known:
    | { readonly bytes: Uint8Array; readonly data: DataSigner; readonly signer: DeploymentSigner }
    | undefined;

  /** Undefined: not all are signed yet. */
  function inUse(): typeof known {
    const { bytes, signsDeployments } = keyInUse();
    if (!signsDeployments) return undefined;
    if (known?.bytes !== bytes) {
      const data = signerOf(bytes);
      known = { bytes, data, signer: createDeploymentSigner(data) };
    }
    return known;
  }

  const signerInUse = () => inUse()?.signer;

  return {
    isTrusted(deployment) {
      const signer = signerInUse();
      if (signer === undefined) return true;
      const bundle = bundles.get(bundleKeyOf(deployment));
      return bundle !== undefined && signer.isSignedFor(deployment, bundle.metadata.uid);
    },
    isSigned: (deployment) => signerInUse()?.isSigned(deployment) ?? true,
    planKeyOf(deployment) {
      const data = inUse()?.data;
      const bundleUid = bundleUidOf(deployment);
      const rollout = deployment.spec.promotion?.rollout;
      if (data === undefined || bundleUid === undefined || rollout === undefined) return undefined;
      return planKey(data, { bundleUid, rollout });
    },
  };
}
