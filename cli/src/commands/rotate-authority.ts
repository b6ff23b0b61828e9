/** `flotilla rotate-authority`: requests a rotation of the hub's certificate authority. */
import {
  authoritySecretName,
  certificateLifetimeAnnotation,
  hubNamespace,
  rotationHandledAnnotation,
  rotationPhaseAnnotation,
  rotationRequestAnnotation,
  rotationSinceAnnotation,
} from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { connectKube } from "@flotilla/shared/kube/client";
import { keyOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { formatGoDuration, formatTimeMs, parseGoDuration } from "@flotilla/shared/time";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/index.ts";

/** Throws AUTHORITY_NOT_FOUND or ROTATION_IN_PROGRESS. */
export async function rotateAuthority(options: HubOptions, config: CliConfig): Promise<void> {
  const rest = connectKube(await hubKubeconfig(options, config));
  const ref = { namespace: hubNamespace, name: authoritySecretName };
  try {
    const secret = await rest.get(secrets, ref);
    if (secret === undefined) {
      const message = `rotate the authority: Secret ${keyOf(ref)} not found on ${rest.server}; check --kubeconfig and --context`;
      throw new AppError(cliErrors.AUTHORITY_NOT_FOUND, message);
    }
    const state = rotationState(secret);
    if (state.kind === "rotating") {
      throw new AppError(
        cliErrors.ROTATION_IN_PROGRESS,
        `rotate the authority: a rotation is in progress: ${state.what}`,
      );
    }
    // The hub compares the value with the last one that it handled.
    const body = {
      metadata: { annotations: { [rotationRequestAnnotation]: formatTimeMs(Date.now()) } },
    };
    await rest.patch(secrets, ref, { type: "merge", body });
    process.stdout.write(
      `Rotation requested: connected agents trust the new authority at once, it signs certificates after about ${state.lifetime}, and the old one is removed about ${state.lifetime} later\n`,
    );
  } finally {
    await rest.close();
  }
}

export type RotationState =
  /** `lifetime`: how long agents' certificates are valid, as a Go duration. */
  | { readonly kind: "steady"; readonly lifetime: string }
  | { readonly kind: "rotating"; readonly what: string };

/** The progress of a rotation, from the annotations of the Secret that holds the authority. Pure. */
export function rotationState({ metadata }: Secret): RotationState {
  const annotations = metadata.annotations ?? {};
  const since = annotations[rotationSinceAnnotation] ?? "an unknown time";
  const lifetimeMs = parseGoDuration(annotations[certificateLifetimeAnnotation] ?? "");
  const lifetime = lifetimeMs === undefined ? "24h" : formatGoDuration(lifetimeMs);
  const phase = annotations[rotationPhaseAnnotation];
  if (phase === "introducing") {
    const what = `the new authority is trusted since ${since} and signs after about ${lifetime}`;
    return { kind: "rotating", what };
  }
  if (phase === "switched") {
    const what = `the new authority signs since ${since}, the old one is removed after about ${lifetime}`;
    return { kind: "rotating", what };
  }
  const request = annotations[rotationRequestAnnotation];
  return request !== undefined && request !== annotations[rotationHandledAnnotation]
    ? {
        kind: "rotating",
        what: `requested at ${request}, not started yet; check that the hub is running`,
      }
    : { kind: "steady", lifetime };
}
