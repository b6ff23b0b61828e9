/** What became of a HelmOp's intent: the outcome of its last reconciliation, from which its status is told. */
import type { ChartPin } from "@flotilla/shared/api/bundle.ts";
import type { ObjectKey } from "@flotilla/shared/kube/objects/object.ts";
import type { HandledRequests } from "../resolve/requests.ts";

export interface HelmOpIntent {
  /** The generation of the HelmOp that this speaks of. */
  readonly generation: number;
  /** Absent while its charts are looked for and nothing is known yet. */
  readonly accepted?:
    | { readonly ok: true /** Worth knowing although it went well. */; readonly message?: string }
    | { readonly ok: false; readonly message: string };
  /** Absent where nothing is polled. */
  readonly polled?: PollOutcome;
  /** The resolved version of the HelmOp's own chart; "" where there is none (an archive's address). */
  readonly version?: string;
  /** Why it does not go on. */
  readonly stalled?: Stall;
  readonly handled?: HandledRequests;
}

export interface Stall {
  /** Fleet's, but for what somebody asked for that came to nothing, which is tried until it does not. */
  readonly reason: "Stalled" | "RequestFailed";
  readonly message: string;
}

export interface PollOutcome {
  /** RFC 3339: the start of the last attempt. */
  readonly at: string;
  /** What went wrong and when it is tried again; absent when it went well. */
  readonly error?: string;
}

/** What became of a Bundle's targets. */
export interface BundleTargeting {
  readonly generation: number;
  /** Clusters that the Bundle goes to. */
  readonly targets: number;
  /** Clusters that wait for an earlier deployment of the same name to be gone. */
  readonly waiting: number;
  /** Where the chart is from, by content, for contents whose chart has no digest to be checked against. */
  readonly unchecked?: ReadonlyMap<string, string>;
  /** What its targets ask for that is not there, as sentences. */
  readonly missing?: readonly string[];
  /** Why nothing could be handed out; what is deployed stays. */
  readonly error?: string;
  /** Worth knowing although it went well, as sentences. */
  readonly remarks?: readonly string[];
  /** The version of its chart that is handed out; "" where there is none (an archive's address). */
  readonly version?: string;
  /** Its charts have just been resolved: it is handed out once the status keeps what they came to. */
  readonly isResolving?: boolean;
  /** What its charts came to, of a Bundle that was not made for a HelmOp; of others nothing. Absent: not known anew. */
  readonly pins?: readonly ChartPin[];
  /** The request to read everything anew that was handled last, of a Bundle that was not made for a HelmOp. */
  readonly handled?: string;
}

/** Outcomes by the key of their object, kept by the leader in memory and made again after a restart. */
export interface Outcomes {
  readonly helmOps: Map<ObjectKey, HelmOpIntent>;
  readonly bundles: Map<ObjectKey, BundleTargeting>;
}

export function createOutcomes(): Outcomes {
  return { helmOps: new Map(), bundles: new Map() };
}
