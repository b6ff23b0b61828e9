/**
 * What somebody asked for by an annotation. Any value that has not been handled yet is one request; which one was handled
 * last is in the status. Pure.
 */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { pollRequestAnnotation, reconcileRequestAnnotation } from "@flotilla/shared/api/names.ts";
import { pollingIntervalMs } from "./polling.ts";

/** The values of the annotations that were handled last; absent where none was. */
export interface HandledRequests {
  readonly reconcile?: string;
  readonly poll?: string;
}

export interface Requests {
  /** A person asks: everything is read anew and followed, what was only reported otherwise too. */
  readonly reconcile?: string;
  /** Something was pushed: the poll is due. */
  readonly poll?: string;
}

/** What is open. A suspended HelmOp's requests stay open until it is resumed. */
export function openRequests(helmOp: HelmOp, handled: HandledRequests): Requests {
  if (helmOp.spec.suspend === true) return {};
  const { reconcile, poll } = requestedOf(helmOp);
  return {
    ...(reconcile !== undefined && reconcile !== handled.reconcile && { reconcile }),
    ...(poll !== undefined &&
      poll !== handled.poll &&
      pollingIntervalMs(helmOp) !== undefined && { poll }),
  };
}

/** What has been handled once `open` is; what was handled before stays told. */
export function handledWith(handled: HandledRequests, open: Requests): HandledRequests {
  return { ...handled, ...open };
}

/** From the status, as after a restart. */
export function handledOf({ status }: HelmOp): HandledRequests {
  const { lastHandledReconcileAt, lastHandledPollRequest } = status ?? {};
  return {
    ...(lastHandledReconcileAt !== undefined && { reconcile: lastHandledReconcileAt }),
    ...(lastHandledPollRequest !== undefined && { poll: lastHandledPollRequest }),
  };
}

function requestedOf({ metadata }: HelmOp): Requests {
  const reconcile = metadata.annotations?.[reconcileRequestAnnotation] ?? "";
  const poll = metadata.annotations?.[pollRequestAnnotation] ?? "";
  return { ...(reconcile !== "" && { reconcile }), ...(poll !== "" && { poll }) };
}
