export { aHelmRelease, resolvedWeb, webChart } from "./objects.ts";
export { createTestReleases, type TestReleases } from "./test-releases.ts";
