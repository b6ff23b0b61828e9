/**
 * Logs in with a code that can be used once: a Secret in the hub's namespace, whose name is the digest of the code, has a token.
 * Creating that Secret requires the token, so a code grants no additional rights. `flotilla dashboard` makes such a link on a
 * local fleet; no chart does.
 */

import { loginCodeSecretName, loginCodeSecretType } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { secrets } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";

/** Returns the token of a code. Throws LOGIN_FAILED. */
export type RedeemCode = (code: string) => Promise<string>;

export interface RedeemDeps {
  readonly rest: Pick<KubeRest, "get" | "delete">;
  readonly namespace: string;
}

export function createRedeemCode({ rest, namespace }: RedeemDeps): RedeemCode {
  return async function redeem(code) {
    const ref = { namespace, name: loginCodeSecretName(code) };
    const secret = await rest.get(secrets, ref);
    const { uid } = secret?.metadata ?? {};
    const isOwn = secret?.type === loginCodeSecretType && uid !== undefined;
    // When two use it at the same time, one of them deletes it.
    if (!isOwn || !(await rest.delete(secrets, ref, { uid })))
      throw new AppError(
        hubErrors.LOGIN_FAILED,
        "this login link is invalid or was already used; create another one with `flotilla dashboard`, or log in with a token",
      );
    return Buffer.from(secret.data?.["token"] ?? "", "base64").toString();
  };
}
