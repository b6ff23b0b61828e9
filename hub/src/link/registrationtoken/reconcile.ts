/** Reconciles ClusterRegistrationTokens: their Secret, their status, and their deletion when they expire. */
import { isDeepStrictEqual } from "node:util";
import { type ClusterRegistrationToken, clusterRegistrationTokens } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { done, type Reconcile, requeueAfter } from "@flotilla/shared/kube/controller";
import type { EventRecorder } from "@flotilla/shared/kube/events";
import { refOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import { planToken, type SecretStep } from "./plan.ts";
import { type HubAddress, makeTokenValue, tokenIn, tokenSecret } from "./secret.ts";

export interface TokenReconcilerDeps {
  readonly rest: KubeRest;
  readonly tokens: Store<ClusterRegistrationToken>;
  readonly hub: HubAddress;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** Keyed by ClusterRegistrationToken. */
export function tokenReconciler({
  rest,
  tokens,
  hub,
  events,
  clock,
}: TokenReconcilerDeps): Reconcile {
  return async function reconcile(key, { signal, log }) {
    const token = tokens.get(key);
    if (token === undefined || token.metadata.deletionTimestamp !== undefined) return done();
    const secret = await rest.get(secrets, refOf(key), { signal });
    const plan = planToken({ token, secret, hub, now: clock.now() });

    if (plan.kind === "delete") {
      const { uid } = token.metadata;
      await rest.delete(clusterRegistrationTokens, refOf(key), {
        signal,
        ...(uid !== undefined && { uid }),
      });
      log.info({ token: key, expires: plan.expires }, "registration token expired and was deleted");
      return done();
    }
    if (plan.secret.kind === "conflict") {
      const note = `Secret ${key} exists and does not belong to this token, so the token cannot be used; delete the Secret or create a token with another name`;
      events.record(token, { type: "Warning", reason: "SecretConflict", action: "Prepare", note });
      throw new AppError(hubErrors.TOKEN_SECRET_CONFLICT, note);
    }
    const created = await writeSecret(token, plan.secret, signal);
    const secretUID = created?.metadata.uid;
    const status = { ...plan.status, ...(secretUID !== undefined && { secretUID }) };
    if (!isDeepStrictEqual(status, token.status ?? {})) {
      const written = await rest.replace(
        clusterRegistrationTokens,
        { ...token, status },
        { subresource: "status", signal },
      );
      tokens.wrote(written);
    }
    return plan.expiresInMs === undefined
      ? done()
      : requeueAfter(plan.expiresInMs, "the registration token expires");
  };

  /** The Secret, if it was created. */
  async function writeSecret(
    token: ClusterRegistrationToken,
    step: Exclude<SecretStep, { kind: "conflict" }>,
    signal: AbortSignal,
  ): Promise<Secret | undefined> {
    const { uid = "" } = token.metadata;
    switch (step.kind) {
      case "none":
        return undefined;
      case "update": {
        const desired = tokenSecret(token, hub, tokenIn(step.secret) || makeTokenValue(uid));
        await rest.replace(
          secrets,
          { ...desired, metadata: { ...step.secret.metadata } },
          { signal },
        );
        return undefined;
      }
      case "recreate": {
        const { name, namespace = "", uid: earlierUid } = step.secret.metadata;
        await rest.delete(
          secrets,
          { namespace, name },
          { signal, ...(earlierUid !== undefined && { uid: earlierUid }) },
        );
        return await rest.create(secrets, tokenSecret(token, hub, makeTokenValue(uid)), { signal });
      }
      case "create":
        return await rest.create(secrets, tokenSecret(token, hub, makeTokenValue(uid)), { signal });
    }
  }
}
