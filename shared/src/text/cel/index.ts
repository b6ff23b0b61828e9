export type { Allowance } from "./budget.ts";
export {
  type Compiled,
  compileCel,
  type Evaluated,
  readyVariables,
} from "./expression.ts";
export { stepsPerSourceByte } from "./limits.ts";
