/** Prints the seed before a run of tests and, as its last line, the counts, which CI reads. */
import type { Reporter } from "vitest/node";

/** What is counted of a `TestModule` of vitest. */
export interface CountedModule {
  errors(): readonly unknown[];
  readonly children: {
    allTests(state: "passed" | "failed"): Iterable<unknown>;
    allSuites(): Iterable<{ errors(): readonly unknown[] }>;
  };
}

export function countReporter(seed: string): Reporter {
  return {
    onInit() {
      console.error(`FLOTILLA_SEED=${seed}`);
    },
    onTestRunEnd(modules, unhandledErrors) {
      console.log(`\n${countLine(modules, unhandledErrors)}`);
    },
  };
}

/** Errors outside of tests count as failures: in a hook, while a file is loaded, or unhandled. */
export function countLine(
  modules: readonly CountedModule[],
  unhandledErrors: readonly unknown[],
): string {
  let passed = 0;
  let failed = unhandledErrors.length;
  for (const module of modules) {
    passed += [...module.children.allTests("passed")].length;
    failed += [...module.children.allTests("failed")].length;
    for (const suite of [module, ...module.children.allSuites()]) failed += suite.errors().length;
  }
  return `${passed} passed, ${failed} failed`;
}
