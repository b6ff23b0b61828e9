/** The caches that the dashboard shows: the informers that every replica has, and the Events of the hub. */
import type { Bundle, BundleDeployment, Cluster, Schedule } from "@flotilla/shared/api";
import type { BundleRollout, Gate } from "@flotilla/shared/api/rollout";
import type { SourceKind } from "@flotilla/shared/dashboard";
import type { Event } from "@flotilla/shared/kube/objects";
import type { WatchedApps } from "../../frontends/index.ts";
import type { Watched } from "../../rules/index.ts";
import type { AnySource } from "./source-of.ts";

export interface ShownCaches {
  readonly apps: WatchedApps;
  readonly bundles: Watched<Bundle>;
  readonly deployments: Watched<BundleDeployment>;
  readonly clusters: Watched<Cluster>;
  readonly sources: Readonly<Record<SourceKind, Watched<AnySource>>>;
  readonly rollouts: Watched<BundleRollout>;
  readonly gates: Watched<Gate>;
  readonly schedules: Watched<Schedule>;
  readonly events: Watched<Event>;
}
