/** `flotilla reconcile`: asks the hub to resolve a HelmOp's chart anew and to follow what it finds. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names.ts";
import { helmOps } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { connectKube } from "@flotilla/shared/kube/client/connect.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import { type HubOptions, hubKubeconfig } from "../fleet/hub-kubeconfig.ts";
import { reconcileOutcome } from "../fleet/reconcile-outcome.ts";
import { waitForObject } from "../fleet/wait.ts";

export interface ReconcileOptions extends HubOptions {
  readonly name: string;
  readonly namespace: string;
  /** How long is waited for what comes of it; absent: not at all. */
  readonly waitMs?: number;
}

export async function reconcile(options: ReconcileOptions, config: CliConfig): Promise<void> {
  const rest = connectKube(await hubKubeconfig(options, config));
  const ref = { namespace: options.namespace, name: options.name };
  try {
    refuse(await rest.get(helmOps, ref), options, rest);
    // Its value only has to be another one; Flux's tools write the time, too.
    const token = new Date().toISOString();
    const body = { metadata: { annotations: { [reconcileRequestAnnotation]: token } } };
    await rest.patch(helmOps, ref, { type: "merge", body });
    process.stdout.write(`HelmOp ${keyOf(ref)} was asked to reconcile\n`);
    if (options.waitMs === undefined) return;
    await waitFor(rest, options, token, options.waitMs);
  } finally {
    await rest.close();
  }
}

function refuse(helmOp: HelmOp | undefined, ref: ReconcileOptions, rest: KubeRest): void {
  const name = `${ref.namespace}/${ref.name}`;
  if (helmOp === undefined)
    throw new AppError(cliErrors.HELMOP_NOT_FOUND, `there is no HelmOp ${name} on ${rest.server}`);
  if (helmOp.spec.suspend === true)
    throw new AppError(
      cliErrors.HELMOP_SUSPENDED,
      `HelmOp ${name} is suspended and was not asked; set spec.suspend to false first`,
    );
}

async function waitFor(
  rest: KubeRest,
  { namespace, name }: ReconcileOptions,
  token: string,
  timeoutMs: number,
): Promise<void> {
  const ref = { namespace, name };
  const outcomeOf = (helmOp: HelmOp | undefined) => reconcileOutcome(helmOp, token);
  const helmOp = await waitForObject(helmOps, ref, (found) => outcomeOf(found).kind !== "waiting", {
    rest,
    timeoutMs,
    onTimeout(last) {
      const outcome = outcomeOf(last);
      const why = outcome.kind === "waiting" ? outcome.why : "";
      return `HelmOp ${keyOf(ref)} was not ready after ${timeoutMs / 1_000} s: ${why}; it goes on by itself`;
    },
  });
  const outcome = outcomeOf(helmOp);
  if (outcome.kind === "ready") {
    process.stdout.write(`${outcome.text}\n`);
    return;
  }
  throw new AppError(
    cliErrors.RECONCILE_FAILED,
    `HelmOp ${keyOf(ref)} could not be reconciled: ${outcome.why}`,
  );
}
