export { adviceFor } from "./advice.ts";
export { blockerOf } from "./blocked.ts";
export { blockerText } from "./blocker-text.ts";
export { type Concern, type ObjectName, ofRelease } from "./concern.ts";
export { concernTitle } from "./concern-title.ts";
export { concernAbout, concernsOf } from "./concerns.ts";
export {
  countVersions,
  mixedFirst,
  previousVersion,
  type VersionCount,
  versionsOf,
} from "./count-versions.ts";
export { type AwaitedDecision, decisionsOf } from "./decisions.ts";
export { appsInCluster, chartsOf, clustersWithChart } from "./deployed.ts";
export { find } from "./find.ts";
export {
  clusterKey,
  type FleetState,
  objectKey,
  type Row,
  releaseStateAt,
  stateOfColumn,
  versionAt,
} from "./fleet-state.ts";
export { type Harm, harms } from "./harm.ts";
export { namespacesOf } from "./in-namespace.ts";
export { labelTexts } from "./labels.ts";
export type { ShownStates } from "./shown-states.ts";
export { countStates, headline, plural } from "./summary.ts";
export { FleetOfNamespace, FleetProvider, useConnection, useFleet } from "./use-fleet.tsx";
export { useShownStates } from "./use-shown-states.ts";
export { versionName, versionNote } from "./version-words.ts";
