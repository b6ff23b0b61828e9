/** What the log names of an object beside its key. Pure. */
import { createdByUserLabel } from "@flotilla/shared/api/names.ts";
import type { KubeObject } from "@flotilla/shared/kube/objects/object.ts";

/** Whom Rancher let make it, where it says so; under the name that Fleet's log has for it. */
export function userFields(object: KubeObject | undefined): Readonly<Record<string, string>> {
  const userID = object?.metadata.labels?.[createdByUserLabel] ?? "";
  return userID === "" ? {} : { userID };
}
