export { findCondition, type NewCondition, setCondition, setConditions } from "./condition.ts";
