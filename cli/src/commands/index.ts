export { createProgram } from "./program.ts";
export { exitCodeOf } from "./signals.ts";
