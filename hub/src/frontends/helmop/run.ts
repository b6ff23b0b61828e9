/** HelmOps as the leader runs them. */

import { createChartAccess, type WorkspaceObjects, watchSecrets } from "../../rules/index.ts";
import type { FrontEndParts, RunningFrontEnd } from "../lifecycle/running.ts";
import { createHelmOpController, type HelmOpControllerDeps } from "./controller.ts";
import { createHelmOpPublisher, type HelmOpPublisherDeps } from "./publisher.ts";

export interface HelmOpRunDeps
  extends FrontEndParts,
    Omit<HelmOpControllerDeps, "statuses" | "access" | "secrets">,
    Pick<HelmOpPublisherDeps, "observer"> {
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known" | "onChange">;
  readonly charts: HelmOpControllerDeps["charts"] & HelmOpPublisherDeps["charts"];
}

export function runHelmOps(deps: HelmOpRunDeps): RunningFrontEnd {
  const statuses = createHelmOpPublisher(deps);
  const access = createChartAccess(deps);
  const secrets = watchSecrets(deps.objects, access);
  return {
    kind: "HelmOp",
    controllers: [createHelmOpController({ ...deps, statuses, access, secrets })],
    flush: statuses.flush,
    // A HelmOp has the key of its Bundle.
    refresh: statuses.refresh,
    refreshLater: statuses.refreshLater,
    objectOf: (key) => deps.caches.helmOps.store.get(key),
  };
}
