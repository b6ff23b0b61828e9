export {
  type ClusterInfo,
  digestClusterInfo,
  packClusterInfo,
  unpackClusterInfo,
} from "./cluster-info.ts";
export {
  addUsed,
  formatUsed,
  packReferencedObject,
  parseUsed,
  type ReferencedObjectData,
  referencedObjectsOf,
  type UsedKeys,
  type UsedObjects,
  unpackReferencedObject,
  usedBy,
} from "./referenced-object.ts";
