export {
  maxPlanLineBytes,
  maxPlanTextBytes,
  type PlanAnswer,
  type PlanCounts,
  type PlanRemark,
  type PlanResult,
  parsePlanAnswer,
} from "./plan-result.ts";
