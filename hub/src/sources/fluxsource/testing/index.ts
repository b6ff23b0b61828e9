export {
  aRepository,
  gate,
  refused,
  repositorySpec,
  revision,
  startTestRepository,
} from "./test-repository.ts";
export { namespace, reading, startTestSources } from "./test-sources.ts";
