export { GroupHead } from "./group-head.tsx";
export { GroupTable } from "./group-table.tsx";
export type { ClusterGroup } from "./groups.ts";
export { GroupingControls, useGrouping } from "./use-grouping.tsx";
