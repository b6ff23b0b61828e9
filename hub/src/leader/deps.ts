/** What the controllers of the leader are built from. */
import type { FairSemaphore } from "@flotilla/shared/concurrency";
import type { BucketClient } from "@flotilla/shared/source/bucket";
import type { ReadIndex, Resolver } from "@flotilla/shared/source/client";
import type { OciArtifacts } from "@flotilla/shared/source/oci";
import type { Pack } from "../bundle/index.ts";
import type { ControllerDeps, FluxCaches } from "../cache/index.ts";
import type { ContentStore } from "../content/index.ts";
import type { GitParts } from "../gitrepository/index.ts";
import type { ValidationOptions } from "../helmrelease/index.ts";
import type { ReconcileDurations } from "../metrics/index.ts";
import type { StatusObserver } from "../notification/index.ts";
import type { HubRules } from "../policy/index.ts";
import type { ReadChart } from "../reader/index.ts";
import type { WorkspaceObjects } from "../referenced/index.ts";
import type { PinSigner } from "../resolve/index.ts";

export interface RunDeps extends ControllerDeps, HubRules {
  readonly contents: ContentStore;
  /** Identifies the hub. */
  readonly hubId: string;
  readonly signer: PinSigner;
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known" | "refresh" | "onChange">;
  readonly resolver: Resolver;
  readonly observer?: StatusObserver | undefined;
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
