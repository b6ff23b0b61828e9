export { gateDecisionObjects, gateDecisionPolicy, renderAdmission } from "./gate-decisions.ts";
