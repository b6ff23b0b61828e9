export { type HelmOpRunDeps, runHelmOps } from "./run.ts";
export { validate as validateRelease } from "./validate.ts";
export { helmOpView } from "./view.ts";
