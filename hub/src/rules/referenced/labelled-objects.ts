/**
 * Watches the metadata of all objects of one kind with the label by which Flux's users ask for a reconcile at once. It delivers
 * nothing of their content, and nothing of any other object.
 */
import type { ObjectRefKind } from "@flotilla/proto";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { metadataOf, refOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { resourceOf } from "./kind-watch.ts";
import { withoutContent } from "./workspace-object.ts";

export const watchedLabel = "reconcile.fluxcd.io/watch=Enabled";

export interface LabelledObjectsDeps {
  readonly rest: KubeRest;
  readonly kind: ObjectRefKind;
  /** An object was created, changed or deleted, or has got or lost the label. */
  readonly onChange: (namespace: string, name: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs until `signal` aborts. */
export async function watchLabelledObjects(
  { rest, kind, onChange, clock, log }: LabelledObjectsDeps,
  signal: AbortSignal,
): Promise<void> {
  const informer = createInformer({
    rest,
    resource: metadataOf(resourceOf(kind)),
    labelSelector: watchedLabel,
    log: log.child({ cache: `labelled ${kind}s` }),
    clock,
    transform: withoutContent,
  });
  informer.onChange(({ key }) => {
    const { namespace = "", name } = refOf(key);
    onChange(namespace, name);
  });
  await informer.run(signal);
}
