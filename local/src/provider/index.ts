export type { ClusterProvider, LocalCluster } from "./cluster-provider.ts";
export { embeddedProvider } from "./embedded.ts";
export { kindProvider } from "./kind.ts";
