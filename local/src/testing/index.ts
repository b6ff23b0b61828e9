export {
  startTestBucketServer,
  startTestChartRepository,
  startTestControlPlane,
  startTestRegistry,
  type TestScope,
  testDir,
} from "./test-parts.ts";
