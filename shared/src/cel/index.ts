export {
  type Compiled,
  compileCel,
  type Evaluated,
  type Expression,
  readyVariables,
} from "./expression.ts";
