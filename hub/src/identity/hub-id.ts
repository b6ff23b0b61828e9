/** What agents know a hub by: the UID of its kube-system namespace, which lasts exactly as long as the cluster. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { namespaces } from "@flotilla/shared/kube/objects/core-resources.ts";
import { identityErrors } from "./errors.ts";

export async function readHubId(rest: KubeRest): Promise<string> {
  const namespace = await rest.get(namespaces, { name: "kube-system" });
  const uid = namespace?.metadata.uid;
  if (uid === undefined || uid === "") {
    throw new AppError(
      identityErrors.HUB_ID_UNKNOWN,
      `the namespace kube-system of ${rest.server} has no UID that could name this hub`,
    );
  }
  return uid;
}
