export type { Allowance } from "./budget.ts";
export {
  type Compiled,
  compileCel,
  type Evaluated,
  type Expression,
  readyVariables,
} from "./expression.ts";
