export {
  createInputCollector,
  type InputCollector,
  type ReadLayers,
  type ReleaseInputs,
} from "./release-inputs.ts";
export {
  createRenderValues,
  hasTemplates,
  type ReadTemplates,
  type RenderValues,
  type ValuesTemplates,
} from "./render-values.ts";
export { type ValueOrigin, valuesWithOrigin } from "./value-origins.ts";
export type { ReadYaml } from "./values-source.ts";
