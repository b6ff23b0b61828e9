export { AppList, ClusterList, SourceList } from "./lists.tsx";
export { type Column, VirtualTable } from "./virtual-table.tsx";
