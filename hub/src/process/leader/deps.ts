/** What the controllers of the leader are built from. */
import type { FairSemaphore } from "@flotilla/shared/concurrency";
import type { BucketClient } from "@flotilla/shared/source/bucket";
import type { ReadIndex, Resolver } from "@flotilla/shared/source/client";
import type { OciArtifacts } from "@flotilla/shared/source/oci";
import type { ControllerDeps, FluxCaches, ReadChart } from "../../base/index.ts";
import type { StatusObserver } from "../../events/index.ts";
import type { ValidationOptions } from "../../frontends/index.ts";
import type { AskAgent, Pack } from "../../rollout/index.ts";
import type {
  ContentStore,
  HubRules,
  PinSigner,
  ReconcileDurations,
  WorkspaceObjects,
} from "../../rules/index.ts";
import type { GitParts } from "../../sources/index.ts";

export interface RunDeps extends ControllerDeps, HubRules {
  readonly contents: ContentStore;
  /** Identifies the hub. */
  readonly hubId: string;
  readonly signer: PinSigner;
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known" | "refresh" | "onChange">;
  readonly resolver: Resolver;
  /** Asks the agent of a cluster what would change, wherever it is connected. */
  readonly askAgent: AskAgent;
  readonly observer?: StatusObserver | undefined;
  /** As for staged rollouts. */
  readonly unverifiedApprovals?: boolean | undefined;
  /** Flux's kinds; absent in tests that have none. */
  readonly flux?: FluxDeps;
  /** For tests, which have to wait until a content is packed. */
  readonly pack?: Pack;
}

/** What the controllers of Flux's kinds need besides. */
export interface FluxDeps {
  readonly informers: FluxCaches;
  readonly readIndex: ReadIndex;
  readonly artifacts: OciArtifacts;
  readonly bucketClient: Pick<BucketClient, "list" | "readObject">;
  readonly gitParts: Pick<GitParts, "git" | "mint">;
  readonly options: ValidationOptions;
  readonly durations: ReconcileDurations;
  /** For the bytes of tenants' files while they are read. */
  readonly budget: FairSemaphore;
  readonly readChart: ReadChart;
}
