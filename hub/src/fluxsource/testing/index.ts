export { namespace, startTestSources, type TestSources } from "./test-sources.ts";
