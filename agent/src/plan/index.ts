export { planLine } from "./change/plan-answer.ts";
export { createPlanQueue, type PlanQueue } from "./planner/behind-deployments.ts";
export { createPlanNow, createPlanner, type Planner } from "./planner/planner.ts";
