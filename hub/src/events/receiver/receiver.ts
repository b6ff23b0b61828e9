/** Receivers, as the hub reads them. */
import {
  type Receiver as FluxReceiver,
  maxResources,
  type ReceiverSpec,
} from "@flotilla/shared/flux";

/** One with a spec: Flux's schema does not require one, and a Receiver without it has nothing to do. */
export interface Receiver extends FluxReceiver {
  readonly spec: ReceiverSpec;
}

export function hasSpec(receiver: FluxReceiver): receiver is Receiver {
  return receiver.spec !== undefined;
}

/** Whether it names more than any call may trigger: Flux's definitions, which this cluster may have, have no limit. */
export function hasTooMany({ spec }: Receiver): boolean {
  return spec.resources.length > maxResources;
}
