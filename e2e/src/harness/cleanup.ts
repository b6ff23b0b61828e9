/** Cleaning up after what a test starts as well as the top level of a file. Not for concurrent tests: vitest knows one at a time. */
import { afterAll, onTestFinished, TestRunner } from "vitest";

/** Runs a hook after the test that runs now or, outside of a test, after all tests of the file. */
export function cleanUp(hook: () => Promise<void> | void): void {
  if (TestRunner.getCurrentTest() === undefined) afterAll(hook);
  else onTestFinished(hook);
}
