export {
  type FleetPlan,
  type FleetPlanGroup,
  fleetPlanSchema,
  maxPlanGroups,
  maxPlanNames,
} from "./fleet-plan.ts";
export {
  maxPlanLineBytes,
  maxPlanTextBytes,
  type PlanAnswer,
  type PlanCounts,
  type PlanRemark,
  type PlanResult,
  parsePlanAnswer,
} from "./plan-result.ts";
