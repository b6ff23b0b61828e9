export { aContext } from "./a-context.ts";
export { connected } from "./connected.ts";
export { answersJson, configMap, follow, namesIn, nextDelay } from "./follow-informer.ts";
export { type HttpApiServer, type OpenWatch, startHttpApiServer } from "./http-api-server.ts";
export {
  cutConnection,
  errorLine,
  type Fault,
  openAndStall,
  respondJson,
  respondStatus,
  respondText,
  stall,
  watchLines,
} from "./http-faults.ts";
export {
  conflict,
  createMemoryApiServer,
  type MemoryApiServer,
  serverError,
} from "./memory-api-server.ts";
export { object, versionOf } from "./versioned.ts";
