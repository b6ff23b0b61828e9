export { aggregated } from "./aggregated.ts";
export { aCertificateRequest } from "./certificate-requests.ts";
export { accepted, decidedBundle, decidedHelmOp, type HelmOpDecision } from "./decided.ts";
export { createTestLeader, type TestLeader, type TestLeaderOptions } from "./leader.ts";
export {
  aBundle,
  aCluster,
  aDeployment,
  aHelmOp,
  aPolicy,
  aRelease,
  digestA,
  digestB,
  httpPin,
  now,
  workspace,
} from "./objects.ts";
export { piecesOf, seriesIn } from "./read-series.ts";
export { deployed } from "./reports.ts";
export { aSchedule } from "./schedules.ts";
export { createTestCaches } from "./test-caches.ts";
export { createTestHelmOps, testRepository, web } from "./test-helm-ops.ts";
export { openTestSession, type TestSession, testHubId } from "./test-session.ts";
export { createWatchedStore, type WatchedStore } from "./watched-store.ts";
