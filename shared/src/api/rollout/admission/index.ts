export { gateDecisionObjects, renderAdmission } from "./gate-decisions.ts";
