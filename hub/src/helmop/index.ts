export { runHelmOps } from "./run.ts";
export { validate as validateRelease } from "./validate.ts";
