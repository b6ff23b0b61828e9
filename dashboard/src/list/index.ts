export { inStates } from "./filter.ts";
export { AppList, ClusterList, SourceList } from "./lists.tsx";
export { StateChips } from "./state-chips.tsx";
export { type Column, VirtualTable } from "./virtual-table.tsx";
