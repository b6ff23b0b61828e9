export { AppList, ClusterList, SourceList } from "./lists.tsx";
export { VirtualTable } from "./virtual-table.tsx";
