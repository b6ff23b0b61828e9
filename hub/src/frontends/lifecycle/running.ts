/** A front end as the leader runs it. */
import type { Bundle } from "@flotilla/shared/api";
import type { FrontEndKind } from "@flotilla/shared/api/apps";
import type { Controller } from "@flotilla/shared/kube/controller";
import type { KubeObject, ObjectKey } from "@flotilla/shared/kube/objects";
import type { Aggregates } from "../../rules/index.ts";

export interface RunningFrontEnd {
  readonly kind: FrontEndKind;
  readonly controllers: readonly Controller[];
  /** Writes the statuses that wait. */
  flush(): Promise<void>;
  /** The state of a Bundle has changed: rolls up the status of the object that it was made for. */
  refresh(bundle: ObjectKey): void;
  /** The same, where many Bundles change at once. */
  refreshLater(bundle: ObjectKey): void;
  /** The object of this key, as the one that a Bundle says it was made for; undefined when it does not exist. */
  objectOf(key: ObjectKey): KubeObject | undefined;
}

/** What all front ends are started with. */
export interface FrontEndParts {
  readonly aggregates: Aggregates;
  /** A Bundle with the status that its reconcile decided. */
  readonly decided: (bundle: Bundle) => Bundle;
}
