export { fingerprintsOf } from "./changes.ts";
export { ClusterMap } from "./cluster-map.tsx";
export { Legend, type LegendEntry } from "./legend.tsx";
