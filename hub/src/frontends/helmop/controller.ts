/** The controller of HelmOps: what it watches, and how a change maps to keys. */
import type { HelmOp, HelmOpStatus } from "@flotilla/shared/api";
import { byNamespace } from "@flotilla/shared/kube/cache";
import {
  type Controller,
  createController,
  isSpecChange,
  ownKey,
  type Watch,
  watch,
} from "@flotilla/shared/kube/controller";
import { keyOf, refOf } from "@flotilla/shared/kube/objects";
import type { Patterns } from "@flotilla/shared/regex";
import { bundleKeyOf, type ControllerDeps, type Publisher, userFields } from "../../base/index.ts";
import {
  type ChartAccess,
  type ChartResolver,
  type HubRules,
  isFetchFailureChange,
  type PinSigner,
} from "../../rules/index.ts";
import { frontEndReconciler } from "../lifecycle/reconcile.ts";
import { helmOpFrontEnd } from "./front-end.ts";

export interface HelmOpControllerDeps extends ControllerDeps, HubRules {
  readonly statuses: Publisher<HelmOpStatus, HelmOp>;
  readonly access: ChartAccess;
  /** The Secrets that HelmOps refer to. */
  readonly secrets: Watch;
  readonly charts: ChartResolver;
  readonly patterns: Patterns;
  readonly signer: PinSigner;
}

/** One reconcile may wait five minutes for a large index of a slow repository, as in Fleet. */
const timeoutMs = 6 * 60_000;

export function createHelmOpController(deps: HelmOpControllerDeps): Controller {
  const { helmOps, bundles, deployments, policies } = deps.caches;
  return createController({
    name: "helmop",
    workers: 32,
    timeoutMs,
    reconcile: frontEndReconciler(
      helmOpFrontEnd({ ...deps, helmOps: helmOps.store, bundles: bundles.store }),
      { ...deps, bundles: bundles.store, policies: policies.store },
    ),
    logFields: (key) => userFields(helmOps.store.get(key)),
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
    watches: [
      watch(helmOps, { predicate: isSpecChange, toKeys: ownKey }),
      // A Bundle has the key of its HelmOp: another client changed or deleted it.
      watch(bundles, {
        predicate: (change) => change.before !== undefined && isSpecChange(change),
        toKeys: ownKey,
        replay: false,
      }),
      watch(policies, {
        predicate: isSpecChange,
        toKeys: ({ key }) =>
          helmOps.store.byIndex(byNamespace, refOf(key).namespace ?? "").map(keyOf),
        replay: false,
      }),
      watch(deployments, {
        predicate: isFetchFailureChange,
        toKeys: ({ before, after }) =>
          [after ?? before].flatMap((one) => (one ? [bundleKeyOf(one)] : [])),
        replay: false,
      }),
      deps.secrets,
    ],
  });
}
