export { testAssignment, testRelease } from "./test-assignment.ts";
