/** The context of a reconcile that a test calls itself, without a controller. */
import { silentLog } from "../../runtime/log/index.ts";
import type { ReconcileContext } from "../controller/index.ts";

export function aContext(overrides: Partial<ReconcileContext> = {}): ReconcileContext {
  return {
    signal: new AbortController().signal,
    log: silentLog(),
    retries: 0,
    withoutWorker: (io) => io(),
    ...overrides,
  };
}
