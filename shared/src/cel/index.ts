export { type Compiled, compileCel, type Evaluated, type Expression } from "./expression.ts";
