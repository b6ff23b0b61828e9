/** What a reconcile is given that runs by itself, without a controller. */
import { silentLog } from "../../log/log.ts";
import type { ReconcileContext } from "../controller/reconcile.ts";

export function aContext(): ReconcileContext {
  return {
    signal: new AbortController().signal,
    log: silentLog(),
    withoutWorker: (wait) => wait(),
  };
}
