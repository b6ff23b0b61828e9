/**
 * A front end: a kind of object that users write, which is compiled to a release. The life of such an object is the same for all kinds
 * (reconcile.ts); what differs is here, as functions. To add a kind, implement this and list it (registry/front-ends.ts).
 */
import type { FrontEndKind } from "@flotilla/shared/api/apps";
import type { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { ReconcileContext, Result } from "@flotilla/shared/kube/controller";
import type { KubeObject, ObjectKey, Resource } from "@flotilla/shared/kube/objects";
import type { Publisher } from "../../base/index.ts";
import type { MergedPolicy, PlannedRelease, ResolvedCharts } from "../../rules/index.ts";

/** `T`: the object; `S`: its status; `D`: what a reconcile decided, from which the status is made. */
export interface FrontEnd<T extends KubeObject, S, D> {
  readonly kind: FrontEndKind;
  readonly resource: Resource<T>;
  readonly store: Store<T>;
  readonly statuses: Pick<Publisher<S, T>, "current" | "publish">;
  /** It creates other objects than its Bundle, which `cleanUp` deletes: it gets its finalizer before anything else. */
  readonly createsObjects?: boolean;
  /** Policies give it defaults. */
  readonly takesDefaults?: boolean;

  /** Whether agents leave its releases as they are, also when it is deleted. */
  isSuspended(object: T): boolean;
  /** What is wrong with the object itself, and what to change. Nothing of it is created before that is corrected. */
  validate?(object: T): AppError | undefined;
  /** What it asks for. May create objects that its chart comes from. `status`: the one to decide by. */
  compile(
    object: T,
    status: S | undefined,
    context: ReconcileContext,
  ): Compiled<D> | Promise<Compiled<D>>;
  /** What is wrong with the release, with the defaults of its Policies, and what to change. */
  check?(release: PlannedRelease): AppError | undefined;

  /** The status with what was decided. `now`: RFC 3339. */
  decided(object: T, status: S | undefined, decision: D, now: string): S;
  /** The status of an object that is not deployed as it is now; what is deployed stays. */
  rejected(object: T, status: S | undefined, rejection: Rejection): S;
  /**
   * The status of a suspended object, where suspending means that the object is not read: all that its Bundle gets is that it is
   * suspended. Without this a suspended object is compiled like others.
   */
  suspended?(object: T, status: S | undefined): S | undefined;

  /** The events of a decision, from the status before and after it. */
  record?(object: T, before: S | undefined, after: S): void;
  /** Forgets what is watched for it. */
  forget?(key: ObjectKey): void;
  /** While it is being deleted, and its Bundle is gone already: whether its releases are still being uninstalled. */
  isUninstalling?(object: T): boolean;
  /** The last step before it is gone. */
  cleanUp?(object: T, signal: AbortSignal): Promise<void>;
}

export type Compiled<D> =
  /** Its charts are known: `release.pins`. */
  | { readonly kind: "resolved"; readonly release: PlannedRelease; readonly decision: D }
  | {
      readonly kind: "planned";
      readonly release: PlannedRelease;
      /** Called once Policies allow it to ask for its charts, with their defaults. */
      readonly resolve: (
        release: PlannedRelease,
        policies: readonly MergedPolicy[],
      ) => Promise<Resolution<D>>;
    }
  /** For something that is watched. */
  | { readonly kind: "waiting"; readonly decision: D }
  | Refused;

export type Resolution<D> =
  | {
      readonly kind: "resolved";
      /** Undefined: some chart has no version yet, so nothing is written. */
      readonly charts: ResolvedCharts | undefined;
      readonly decision: D;
      readonly result?: Result;
    }
  /** Deleted meanwhile, or retried by the queue. */
  | Refused;

export interface Refused {
  readonly kind: "refused";
  readonly error: AppError;
  readonly result?: Result;
}

export interface Rejection {
  readonly error: AppError;
  /** It was rejected before anything was created for it. */
  readonly isInvalid: boolean;
  /** RFC 3339. */
  readonly now: string;
}
