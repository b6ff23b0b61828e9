/** The BundleRollouts of an app, as the API server has them. */
import { type AppKind, appDefinition } from "@flotilla/shared/api/apps";
import { bundleNameOf } from "@flotilla/shared/api/names";
import {
  type BundleRollout,
  bundleRollouts,
  rolloutBundleLabel,
} from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { cliErrors } from "../errors.ts";

/** An app as a command names it. */
export interface AppRef {
  readonly kind: AppKind;
  readonly namespace: string;
  readonly name: string;
}

/** `HelmOp fleet-default/web`. */
export function appText({ kind, namespace, name }: AppRef): string {
  return `${kind} ${namespace}/${name}`;
}

/** Selects the rollouts of the app's Bundle. */
export function rolloutSelector({ kind, name }: AppRef): string {
  return `${rolloutBundleLabel}=${bundleNameOf(kind, name)}`;
}

/** Whether it is a rollout of the app. A Bundle that was made for an app may be named in place of that. */
function isOfApp({ spec }: BundleRollout, { kind, name }: AppRef): boolean {
  const isMadeForApps = appDefinition(kind).label !== undefined;
  return (
    spec.bundle.name === bundleNameOf(kind, name) && (!isMadeForApps || spec.app.kind === kind)
  );
}

/** All of them by number, but not those that are being deleted. */
export async function readRollouts(rest: KubeRest, app: AppRef): Promise<readonly BundleRollout[]> {
  const { namespace } = app;
  const labelSelector = rolloutSelector(app);
  const { items } = await rest.list(bundleRollouts, { namespace, labelSelector });
  return sorted(items, app);
}

/** The rollouts of an app that are not being deleted, by number. Pure. */
export function sorted(all: readonly BundleRollout[], app: AppRef): readonly BundleRollout[] {
  return all
    .filter((rollout) => rollout.metadata.deletionTimestamp === undefined && isOfApp(rollout, app))
    .toSorted((a, b) => a.spec.number - b.spec.number);
}

/** The newest one. Throws ROLLOUT_NOT_FOUND. */
export async function newestRollout(rest: KubeRest, app: AppRef): Promise<BundleRollout> {
  const newest = (await readRollouts(rest, app)).at(-1);
  if (newest !== undefined) return newest;
  throw new AppError(
    cliErrors.ROLLOUT_NOT_FOUND,
    `read the rollout of ${appText(app)}: there is none on ${rest.server}; rollouts exist where spec.rolloutStrategy has stages, maxFailures or onFailure; check the name, -n, --kubeconfig and --context`,
  );
}
