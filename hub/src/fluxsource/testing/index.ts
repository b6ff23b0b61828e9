export { namespace, startTestSources } from "./test-sources.ts";
