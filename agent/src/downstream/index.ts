export { type DownstreamResource, downstreamLabel } from "./downstream-object.ts";
export {
  createDownstreamReferrers,
  createDownstreamResources,
  type DownstreamResources,
} from "./downstream-resources.ts";
