/** The key by which the agents of a staged rollout mask values of Secrets in the digests of what would change. */

/** Signs any data of the hub, as `PinSigner` does. */
export interface DataSigner {
  sign(data: unknown): string;
  isSigned(data: unknown, signature: string): boolean;
}

/** Whose plans have it. */
export interface PlansOf {
  /** The UID of the Bundle. */
  readonly bundleUid: string;
  /** The name of the BundleRollout. */
  readonly rollout: string;
}

/**
 * The same for every replica, so that equal secrets are equal diffs, and known to nobody who reads a digest: who has it can try out which
 * password a digest was made from. It is sent to the agents of the rollout, and is in no log, status or event.
 */
export function planKey(
  signer: Pick<DataSigner, "sign">,
  { bundleUid, rollout }: PlansOf,
): Uint8Array {
  return Buffer.from(signer.sign(["PlanKey", bundleUid, rollout]), "base64");
}
