/** `flotilla rotate-authority`: asks the hub for another certificate authority. */
import {
  authoritySecretName,
  hubNamespace,
  rotationRequestAnnotation,
} from "@flotilla/shared/api/names.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/hub-kubeconfig.ts";
import { rotationState } from "../fleet/rotation-state.ts";

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
