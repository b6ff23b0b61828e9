export { createInputCollector, type InputCollector, type ReleaseInputs } from "./release-inputs.ts";
export {
  createRenderValues,
  hasTemplates,
  type ReadTemplates,
  type RenderValues,
  type ValuesTemplates,
} from "./render-values.ts";
export type { ReadYaml } from "./values-source.ts";
