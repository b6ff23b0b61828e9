/** `flotilla reconcile helmop`: requests a reconciliation by annotation, as `flux reconcile` does, and waits for it. */

import { type HelmOp, helmOps } from "@flotilla/shared/api";
import {
  forceRequestAnnotation,
  reconcileRequestAnnotation,
  resetRequestAnnotation,
} from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { connectKube, type KubeRest } from "@flotilla/shared/kube/client";
import { keyOf, type ObjectRef } from "@flotilla/shared/kube/objects";
import { formatTimeMs } from "@flotilla/shared/time";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { type HubOptions, hubKubeconfig, waitForObject } from "../fleet/index.ts";

export interface ReconcileOptions extends HubOptions {
  readonly name: string;
  readonly namespace: string;
  /** How long to wait until the HelmOp is ready; does not wait when absent. */
  readonly waitMs?: number;
  /** Helm upgrades its releases, whatever their state. */
  readonly force?: boolean;
  /** Their failed attempts do not count. */
  readonly reset?: boolean;
}

/** Throws HELMOP_NOT_FOUND, HELMOP_SUSPENDED, RECONCILE_FAILED, or CANCELLED when `waitMs` has passed. */
export async function reconcile(options: ReconcileOptions, config: CliConfig): Promise<void> {
  const rest = connectKube(await hubKubeconfig(options, config));
  const ref = { namespace: options.namespace, name: options.name };
  try {
    validateTarget(await rest.get(helmOps, ref), ref, rest);
    // The hub compares the value with the last one that it handled; Flux uses the time, too.
    const token = formatTimeMs(Date.now());
    const annotations = {
      [reconcileRequestAnnotation]: token,
      ...(options.force === true && { [forceRequestAnnotation]: token }),
      ...(options.reset === true && { [resetRequestAnnotation]: token }),
    };
    const body = { metadata: { annotations } };
    await rest.patch(helmOps, ref, { type: "merge", body });
    process.stdout.write(`HelmOp ${keyOf(ref)} reconciliation requested\n`);
    if (options.waitMs === undefined) return;
    const message = await waitForResult(rest, ref, token, options.waitMs);
    process.stdout.write(`HelmOp ${keyOf(ref)} ${message}\n`);
  } finally {
    await rest.close();
  }
}

function validateTarget(helmOp: HelmOp | undefined, ref: ObjectRef, rest: KubeRest): void {
  if (helmOp === undefined)
    throw new AppError(
      cliErrors.HELMOP_NOT_FOUND,
      `reconcile HelmOp ${keyOf(ref)}: not found on ${rest.server}; check -n, --kubeconfig and --context`,
    );
  if (helmOp.spec.suspend === true)
    throw new AppError(
      cliErrors.HELMOP_SUSPENDED,
      `reconcile HelmOp ${keyOf(ref)}: it is suspended; set spec.suspend to false first`,
    );
}

async function waitForResult(
  rest: KubeRest,
  ref: ObjectRef,
  token: string,
  timeoutMs: number,
): Promise<string> {
  const resultOf = (helmOp: HelmOp | undefined) => reconcileResult(helmOp, token);
  const isFinal = (helmOp: HelmOp | undefined) => resultOf(helmOp).kind !== "waiting";
  const helmOp = await waitForObject(helmOps, ref, isFinal, {
    rest,
    timeoutMs,
    onTimeout: (last) =>
      `wait for HelmOp ${keyOf(ref)}: not ready after ${timeoutMs / 1_000} s: ${resultOf(last).message}; the hub continues`,
  });
  const { kind, message } = resultOf(helmOp);
  if (kind === "ready") return message;
  throw new AppError(cliErrors.RECONCILE_FAILED, `reconcile HelmOp ${keyOf(ref)}: ${message}`);
}

export interface ReconcileResult {
  readonly kind: "waiting" | "ready" | "failed";
  /** For people: why it is waiting or has failed, or what is ready. */
  readonly message: string;
}

/** The current result of a request, from the status of the HelmOp. `token`: the value of the request's annotation. Pure. */
export function reconcileResult(helmOp: HelmOp | undefined, token: string): ReconcileResult {
  if (helmOp === undefined) return { kind: "failed", message: "it was deleted" };
  const { metadata, status } = helmOp;
  if (status?.lastHandledReconcileAt !== token)
    return {
      kind: "waiting",
      message: "the hub has not handled the request; check that it is running",
    };
  const stalled = findCondition(status.conditions, "Stalled");
  if (stalled?.status === "True") return { kind: "failed", message: stalled.message ?? "" };
  const ready = findCondition(status.conditions, "Ready");
  if (ready?.status !== "True" || ready.observedGeneration !== metadata.generation)
    return { kind: "waiting", message: ready?.message || "it is not ready" };
  const notes = ["Accepted", "Ready"]
    .map((type) => findCondition(status.conditions, type)?.message ?? "")
    .filter((message) => message !== "");
  const { version = "", readyClusters = 0, desiredReadyClusters = 0 } = status;
  const what = version === "" ? "is ready" : `${version} is ready`;
  const text = `${what} in ${readyClusters} of ${desiredReadyClusters} clusters`;
  return { kind: "ready", message: [text, ...notes].join("; ") };
}
