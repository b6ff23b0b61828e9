export {
  maxPlanLineBytes,
  maxPlanTextBytes,
  type PlanAnswer,
  type PlanCounts,
  type PlanRemark,
  type PlanResult,
  parsePlanAnswer,
  planRemarks,
} from "./plan-result.ts";
