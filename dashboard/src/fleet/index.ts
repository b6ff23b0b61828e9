export { adviceFor } from "./advice.ts";
export {
  countVersions,
  mixedFirst,
  previousVersion,
  type VersionCount,
  versionsOf,
} from "./count-versions.ts";
export { appsInCluster, chartsOf, clustersWithChart } from "./deployed.ts";
export {
  clusterKey,
  type FleetState,
  objectKey,
  type Row,
  releaseStateAt,
  stateOfColumn,
  versionAt,
} from "./fleet-state.ts";
export { namespacesOf } from "./in-namespace.ts";
export { labelTexts } from "./labels.ts";
export { type Concern, concernsOf, countStates, headline, plural } from "./summary.ts";
export { FleetOfNamespace, FleetProvider, useConnection, useFleet } from "./use-fleet.tsx";
