/** Loaded before each file of tests: what Node makes of the sources is kept, so that each process loads them in half the time. */
import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { afterAll } from "vitest";
import { root } from "./run.ts";

enableCompileCache(join(root, "build", "compile-cache"));
// A process of tests is killed at its end, and would keep nothing.
afterAll(() => flushCompileCache());
