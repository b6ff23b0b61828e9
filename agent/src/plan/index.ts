export { planLine } from "./change/plan-answer.ts";
export { createPlanQueue, type PlanQueue } from "./planner/behind-deployments.ts";
export { createPlanner, type Planner } from "./planner/planner.ts";
