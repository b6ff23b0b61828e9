export {
  type HelmfileRequest,
  type PlannedHelmfile,
  planHelmfile,
} from "./run/plan-helmfile.ts";
