export {
  createSourceClient,
  type ReadIndex,
  type ResolveOptions,
  type Resolver,
  type SourceClient,
} from "./source-client.ts";
