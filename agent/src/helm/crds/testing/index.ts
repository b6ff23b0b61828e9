export {
  type CrdClusterOptions,
  createCrdCluster,
  keepAnnotations,
  ownerOf,
  release,
} from "./crd-cluster.ts";
