/** What a reconcile is given that runs by itself, without a controller. */
import { silentLog } from "../../log/log.ts";
import type { ReconcileContext } from "../controller.ts";

export function aContext(retries = 0): ReconcileContext {
  return {
    retries,
    signal: new AbortController().signal,
    log: silentLog(),
    aside: (wait) => wait(),
  };
}
