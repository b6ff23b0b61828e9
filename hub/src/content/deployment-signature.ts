/**
 * Distinguishes what the hub wrote into a BundleDeployment from what somebody else did (docs/adr/0046). The spec says which stored
 * content an agent gets, and which Secrets of any namespace: whoever may update the BundleDeployments of one cluster must not decide
 * that.
 */
import type { BundleDeployment } from "@flotilla/shared/api";
import { deploymentSignatureAnnotation } from "@flotilla/shared/api/names";

/** Signs any data of the hub, as `PinSigner` does. */
export interface DataSigner {
  sign(data: unknown): string;
  isSigned(data: unknown, signature: string): boolean;
}

export interface DeploymentSigner {
  isSigned(deployment: BundleDeployment): boolean;
  /** The same BundleDeployment with a signature for its namespace, its name, its contents and its references. */
  signed(deployment: BundleDeployment): BundleDeployment;
}

export function createDeploymentSigner(signer: DataSigner): DeploymentSigner {
  // Objects of a store are replaced, never changed. A change of one cluster asks about the deployments of all.
  const known = new WeakMap<BundleDeployment, boolean>();
  return {
    isSigned(deployment) {
      const before = known.get(deployment);
      if (before !== undefined) return before;
      const signature = signatureOf(deployment);
      const isSigned =
        signature !== undefined && signer.isSigned(signedData(deployment), signature);
      known.set(deployment, isSigned);
      return isSigned;
    },
    signed(deployment) {
      const annotations = {
        ...deployment.metadata.annotations,
        [deploymentSignatureAnnotation]: signer.sign(signedData(deployment)),
      };
      return { ...deployment, metadata: { ...deployment.metadata, annotations } };
    },
  };
}

export function signatureOf({ metadata }: BundleDeployment): string | undefined {
  return metadata.annotations?.[deploymentSignatureAnnotation];
}

/** For one BundleDeployment of one cluster alone: the namespace is the cluster's, and references are relative to its workspace. */
function signedData({ metadata, spec }: BundleDeployment): readonly unknown[] {
  const { namespace, name } = metadata;
  const { deploymentID, stagedDeploymentID, referencedObjects = [] } = spec;
  return ["BundleDeployment", namespace, name, deploymentID, stagedDeploymentID, referencedObjects];
}

/** The key of the hub's signatures, as a replica knows it. */
export interface SigningKey {
  readonly bytes: Uint8Array;
  /** Whether a leader has signed every BundleDeployment with it. */
  readonly signsDeployments: boolean;
}

/** What a replica that serves agents believes. */
export interface DeploymentTrust {
  /** Whether an agent may get the contents and the objects that it refers to. */
  isTrusted(deployment: BundleDeployment): boolean;
}

/**
 * Until a leader has signed all of them with the key, those of an older hub have no signature and count as before: otherwise agents
 * would miss a change of a Secret meanwhile.
 */
export function createDeploymentTrust(
  keyInUse: () => SigningKey,
  signerOf: (key: Uint8Array) => DataSigner,
): DeploymentTrust {
  let known: { readonly bytes: Uint8Array; readonly signer: DeploymentSigner } | undefined;
  return {
    isTrusted(deployment) {
      const { bytes, signsDeployments } = keyInUse();
      if (!signsDeployments) return true;
      if (known?.bytes !== bytes)
        known = { bytes, signer: createDeploymentSigner(signerOf(bytes)) };
      return known.signer.isSigned(deployment);
    },
  };
}
