export {
  createSourceClient,
  type ResolveOptions,
  type Resolver,
  type SourceClient,
} from "./source-client.ts";
