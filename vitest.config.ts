/**
 * `npm test` runs the tests beside the code, then those in e2e, on real clusters; `npm run soak` runs the project `soak`:
 * minutes of random faults and of frozen replicas. Property tests have the same seed in every run; `FLOTILLA_SEED=7` sets
 * another one, `FLOTILLA_SEED=random` a new one for each run.
 */
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { countReporter } from "./scripts/count-reporter.ts";
import { LongestFirst } from "./scripts/longest-first.ts";

const seed = chosenSeed(process.env["FLOTILLA_SEED"]);

/**
 * Each has a process of its own: they measure the CPU time or the memory of their process, or start what measures it, or change
 * what the whole process trusts. All other files share the processes of their project (`isolate: false`), which load each module
 * once.
 */
const isolated = [
  "agent/src/helm/templates/template-actions.test.ts",
  "agent/src/inputs/values/template/lex-template.test.ts",
  "agent/src/inputs/values/template/reread.test.ts",
  "hub/src/parts.test.ts",
  "shared/src/text/cel/expression.test.ts",
  "shared/src/text/regex/patterns.test.ts",
  "shared/src/kubernetes/selector/object-selector.test.ts",
  "hub/src/events/receiver/match-helm-ops.test.ts",
  "shared/src/charts/source/http/index-size.test.ts",
  "shared/src/charts/source/transport/extra-authorities.test.ts",
];

/** Start etcd, kube-apiserver, a registry, Helm, git, sshd or Go: found, built or installed once, before the first of them. */
const onBinaries = [
  "hub/src/sources/gitrepository/controller.test.ts",
  "local/src/binaries/go-sources.test.ts",
  "local/src/control-plane/control-plane.test.ts",
  "local/src/images/image-tree.test.ts",
  "local/src/provider/cluster-provider.test.ts",
  "local/src/registries/bucket-client.test.ts",
  "local/src/registries/publish-chart.test.ts",
  "shared/src/charts/source/git/client.test.ts",
  "shared/src/charts/source/git/failures.test.ts",
  "shared/src/charts/source/git/ssh.test.ts",
  "shared/src/charts/source/git/verify.test.ts",
  "shared/src/charts/source/ignore/ignore.test.ts",
  "shared/src/charts/source/oci/signature.test.ts",
];
/** Each file starts a dozen processes and waits much of its time: three keep two cores busy, with the soak tests beside them. */
const clusterWorkers = 3;
/** Helm and kubectl, which tests start by the thousand, end before garbage collection saves what it costs. */
const env = { GOGC: "400" };
const binaries = { env, globalSetup: ["scripts/test-binaries.ts"] };
const realClusters = {
  env,
  setupFiles: ["e2e/src/harness/end-leases.ts"],
  globalSetup: [
    "scripts/test-binaries.ts",
    "e2e/src/harness/program-bundles.ts",
    "e2e/src/harness/control-plane-server.ts",
  ],
};

export default defineConfig({
  test: {
    pool: "forks",
    // Node imports the files itself, as it does outside of tests, and strips their types; Vite transforms nothing.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    env: { FLOTILLA_SEED: seed },
    setupFiles: ["scripts/compile-cache.ts", "scripts/seed-properties.ts", "scripts/load-tsx.ts"],
    // A test that hangs fails by name instead of blocking the run.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Hooks of a file and of a suite run in the order of registration; onTestFinished always runs the last one first.
    sequence: { hooks: "list", sequencer: LongestFirst },
    // Tests marked as concurrent all run at the same time.
    maxConcurrency: 1_000,
    silent: "passed-only",
    slowTestThreshold: 180_000,
    reporters: ["default", countReporter(seed)],
    coverage: {
      include: ["{proto,shared,hub,agent,local,cli,dashboard}/src/**/*.{ts,tsx}"],
      exclude: ["**/generated/**", "**/testing/**", "**/*.test.ts"],
      reporter: ["text-summary", "html"],
      reportsDirectory: "build/coverage",
    },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{proto,shared,hub,agent,local,cli,dashboard,scripts}/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...isolated, ...onBinaries],
          isolate: false,
          maxWorkers: Math.min(4, availableParallelism()),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "unit-isolated",
          include: isolated,
          maxWorkers: clusterWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "unit-binaries",
          include: onBinaries,
          ...binaries,
          isolate: false,
          maxWorkers: clusterWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["e2e/src/**/*.test.ts"],
          ...realClusters,
          isolate: false,
          maxWorkers: clusterWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "soak",
          include: ["e2e/soak/**/*.test.ts", "e2e/src/charts/helm-agreement.test.ts"],
          ...realClusters,
          env: { ...env, FLOTILLA_PAIRS: "2100" },
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

function chosenSeed(asked = "1"): string {
  const seed = asked === "random" ? String(Math.floor(Math.random() * 2 ** 31)) : asked;
  if (!/^\d{1,10}$/.test(seed))
    throw new Error(`FLOTILLA_SEED=${asked}: it is a whole number, or "random"`);
  return seed;
}
