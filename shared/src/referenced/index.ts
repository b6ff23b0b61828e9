export {
  type ClusterInfo,
  digestClusterInfo,
  packClusterInfo,
  unpackClusterInfo,
} from "./cluster-info.ts";
export {
  packReferencedObject,
  type ReferencedObjectData,
  referencedObjectsOf,
  unpackReferencedObject,
} from "./referenced-object.ts";
