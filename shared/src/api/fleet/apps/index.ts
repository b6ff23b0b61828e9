export type { AppDefinition, AppRequest } from "./app-definition.ts";
export {
  type AppKind,
  appDefinition,
  appDefinitions,
  appKinds,
  type FrontEndKind,
  frontEndKinds,
  isAppKind,
  isOriginKind,
  nameKinds,
  takesRequest,
} from "./app-kinds.ts";
export { appInLabels, isMadeFor } from "./bundle-labels.ts";
export {
  bundleFinalizer,
  fluxFinalizer,
  fluxOwnerLabels,
  helmOpFinalizer,
  helmOpLabel,
  helmReleaseLabel,
} from "./labels.ts";
