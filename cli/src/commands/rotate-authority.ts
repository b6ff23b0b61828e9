/** `flotilla rotate-authority`: asks the hub for another certificate authority. */
import {
  authoritySecretName,
  certificateLifetimeAnnotation,
  hubNamespace,
  rotationHandledAnnotation,
  rotationPhaseAnnotation,
  rotationRequestAnnotation,
  rotationSinceAnnotation,
} from "@flotilla/shared/api/names.ts";
import { formatGoDuration, parseGoDuration } from "@flotilla/shared/duration/go-duration.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { connectKube } from "@flotilla/shared/kube/connect.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/core-resources.ts";
import { keyOf } from "@flotilla/shared/kube/object.ts";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/running-fleet.ts";

export async function rotateAuthority(options: HubOptions, config: CliConfig): Promise<void> {
  const rest = connectKube(await hubKubeconfig(options, config));
  const ref = { namespace: hubNamespace, name: authoritySecretName };
  try {
    const secret = await rest.get(secrets, ref);
    if (secret === undefined) {
      const message = `there is no Secret ${keyOf(ref)} on ${rest.server}, so no hub has run there`;
      throw new AppError(cliErrors.AUTHORITY_NOT_FOUND, message);
    }
    const state = rotationState(secret);
    if (state.kind === "rotating") {
      throw new AppError(
        cliErrors.ROTATION_UNDER_WAY,
        `the authority of the hub was not asked to rotate: ${state.what}`,
      );
    }
    // Its value only has to be another one.
    const body = {
      metadata: { annotations: { [rotationRequestAnnotation]: new Date().toISOString() } },
    };
    await rest.patch(secrets, ref, { type: "merge", body });
    process.stdout.write(
      `the hub was asked to rotate its authority; agents that are connected learn the new one at once, it signs after about ${state.lifetime}, and the old one goes about ${state.lifetime} later\n`,
    );
  } finally {
    await rest.close();
  }
}

/** Where a rotation of the hub's authority stands, as its Secret tells it. Pure. */

export type RotationState =
  /** `lifetime`: of agents' certificates, for people. */
  | { readonly kind: "steady"; readonly lifetime: string }
  | { readonly kind: "rotating"; readonly what: string };

export function rotationState({ metadata }: Secret): RotationState {
  const said = metadata.annotations ?? {};
  const since = said[rotationSinceAnnotation] ?? "an unknown time";
  const lifetimeMs = parseGoDuration(said[certificateLifetimeAnnotation] ?? "");
  const lifetime = lifetimeMs === undefined ? "24h" : formatGoDuration(lifetimeMs);
  const phase = said[rotationPhaseAnnotation];
  if (phase === "introducing") {
    const what = `a new one is trusted since ${since} and signs after about ${lifetime}`;
    return { kind: "rotating", what };
  }
  if (phase === "switched") {
    const what = `a new one signs since ${since}, and the old one goes after about ${lifetime}`;
    return { kind: "rotating", what };
  }
  const request = said[rotationRequestAnnotation];
  return request !== undefined && request !== said[rotationHandledAnnotation]
    ? { kind: "rotating", what: `it was asked at ${request} and has not begun; see to the hub` }
    : { kind: "steady", lifetime };
}
