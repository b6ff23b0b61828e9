/** Something that needs attention. */
import type {
  App,
  AppRef,
  ClusterRelease,
  FleetCluster,
  FleetSource,
} from "@flotilla/shared/dashboard";
import type { AnyState } from "../state/index.ts";
import type { Blocker } from "./blocked.ts";
import { objectKey } from "./fleet-state.ts";
import { type Harm, harmOf } from "./harm.ts";

export interface ObjectName {
  readonly kind: AppRef["kind"] | "Cluster" | FleetSource["kind"];
  readonly namespace: string;
  readonly name: string;
}

export interface Concern extends ObjectName {
  readonly state: AnyState;
  /** It needs attention nevertheless: nothing of it recovers until somebody resumes it. */
  readonly suspended: boolean;
  readonly harm: Harm;
  readonly reason: string;
  /** The code of the error, as in docs/errors.md; "": it has none. */
  readonly code: string;
  readonly message: string;
  /** RFC 3339; "" if it is not known. */
  readonly since: string;
  /** How many clusters it concerns, where it may concern several. */
  readonly clusters: number;
  /** The Secret of its namespace that its source is read with; "": none. */
  readonly secret: string;
  /** The host that could not be read; "": it names none itself. */
  readonly host: string;
  /** The first clusters that are in the state. */
  readonly examples: NonNullable<App["examples"]>;
  /** What its values are read from, where they cannot be made. */
  readonly values: NonNullable<App["values"]>;
  readonly blocker: Blocker | undefined;
  /** What is in the same state for the same reason; the one that the others stand for is the first. */
  readonly same: readonly ObjectName[];
  /** What is not as it should be because of it. */
  readonly affected: readonly ObjectName[];
}

/** ms since 1970; 0 if it is not known. Texts do not compare: only some times have fractions of a second. */
export function startMs({ since }: Pick<Concern, "since">): number {
  return Date.parse(since) || 0;
}

export function byName(one: ObjectName, other: ObjectName): number {
  return objectKey(one) < objectKey(other) ? -1 : 1;
}

export function ofApp(app: App, harm: Harm, blocker?: Blocker): Concern {
  return {
    ...app,
    ...explained(app),
    harm,
    blocker,
    ...(blocker !== undefined && { state: "Blocked" as const }),
    clusters: blocker?.clusters ?? Math.max(0, app.desired - app.ready),
    host: app.host ?? "",
    examples: app.examples ?? [],
    values: app.values ?? [],
  };
}

/** About its release in one cluster. */
export function ofRelease(
  app: App,
  { state, message, since }: Pick<ClusterRelease, "state" | "message" | "since">,
): Concern {
  const { message: _, since: __, examples: ___, ...common } = app;
  return {
    ...ofApp({ ...common, ...(message !== undefined && { message }) }, harmOf(state, true)),
    state,
    since: since ?? "",
    clusters: 1,
  };
}

export function ofCluster(cluster: FleetCluster, harm: Harm): Concern {
  return {
    ...cluster,
    ...explained(cluster),
    harm,
    kind: "Cluster",
    suspended: false,
    clusters: 1,
    host: "",
    examples: [],
    values: [],
    blocker: undefined,
  };
}

export function ofSource(source: FleetSource, harm: Harm): Concern {
  return {
    ...source,
    ...explained(source),
    harm,
    clusters: 0,
    host: "",
    examples: [],
    values: [],
    blocker: undefined,
  };
}

type Explained = Pick<
  Concern,
  "reason" | "code" | "message" | "since" | "secret" | "same" | "affected"
>;

function explained(
  object: Pick<App, "reason" | "message" | "since"> & Partial<Pick<App, "code" | "secret">>,
): Explained {
  const { reason = "", message = "", since = "", code = "", secret = "" } = object;
  return { reason, code, message, since, secret, same: [], affected: [] };
}
