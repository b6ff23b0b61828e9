export { namespace, reading, startTestSources } from "./test-sources.ts";
