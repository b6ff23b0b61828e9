export { type DownstreamResource, downstreamLabel } from "./downstream-object.ts";
export {
  createDownstreamReferrers,
  createDownstreamResources,
  type DownstreamResources,
  type DownstreamTarget,
} from "./downstream-resources.ts";
