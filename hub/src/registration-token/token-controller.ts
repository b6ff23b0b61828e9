/** Keeps each ClusterRegistrationToken's Secret and status as they should be, and deletes it at its end. The leader's. */
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { clusterRegistrationTokens } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import type { Reconcile } from "@flotilla/shared/kube/controller/reconcile.ts";
import { done, requeueAfter } from "@flotilla/shared/kube/controller/reconcile.ts";
import type { EventRecorder } from "@flotilla/shared/kube/events/events.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { refOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { registrationTokenErrors } from "./errors.ts";
import { planToken, type SecretStep } from "./plan-token.ts";
import { type HubAddress, tokenIn, tokenSecret } from "./token-secret.ts";
import { makeTokenValue } from "./token-value.ts";

export interface TokenControllerDeps {
  readonly rest: KubeRest;
  readonly tokens: Store<ClusterRegistrationToken>;
  readonly hub: HubAddress;
  readonly events: EventRecorder;
  readonly clock: Clock;
}

/** The reconcile of a controller that is keyed by ClusterRegistrationToken. */
export function reconcileToken({
  rest,
  tokens,
  hub,
  events,
  clock,
}: TokenControllerDeps): Reconcile {
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
      log.info({ token: key, expires: plan.expires }, "registration token ended and was deleted");
      return done();
    }
    if (plan.secret.kind === "taken") {
      const note = `Secret ${key} exists and does not belong to this token, so the token cannot be used; delete the Secret or make a token of another name`;
      events.record(token, { type: "Warning", reason: "SecretTaken", action: "Prepare", note });
      throw new AppError(registrationTokenErrors.TOKEN_SECRET_TAKEN, note);
    }
    await writeSecret(token, plan.secret, signal);
    if (plan.status !== undefined) {
      const written = await rest.replace(
        clusterRegistrationTokens,
        { ...token, status: plan.status },
        { subresource: "status", signal },
      );
      tokens.wrote(written);
    }
    return plan.endsInMs === undefined
      ? done()
      : requeueAfter(plan.endsInMs, "the registration token ends");
  };

  async function writeSecret(
    token: ClusterRegistrationToken,
    step: Exclude<SecretStep, { kind: "taken" }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid = "" } = token.metadata;
    switch (step.kind) {
      case "none":
        return;
      case "update": {
        const wanted = tokenSecret(token, hub, tokenIn(step.secret) || makeTokenValue(uid));
        await rest.replace(
          secrets,
          { ...wanted, metadata: { ...step.secret.metadata } },
          { signal },
        );
        return;
      }
      case "recreate": {
        const { name, namespace = "", uid: leftOver } = step.secret.metadata;
        await rest.delete(
          secrets,
          { namespace, name },
          { signal, ...(leftOver !== undefined && { uid: leftOver }) },
        );
        await rest.create(secrets, tokenSecret(token, hub, makeTokenValue(uid)), { signal });
        return;
      }
      case "create":
        await rest.create(secrets, tokenSecret(token, hub, makeTokenValue(uid)), { signal });
        return;
    }
  }
}
