/** Strategies, BundleRollouts and RolloutPolicies that the API server accepts or rejects, and its messages. */

export interface RolloutCase {
  readonly what: string;
  readonly spec: object;
  /** Absent: it is accepted. */
  readonly message?: RegExp;
}

const prod = { matchLabels: { env: "prod" } };
const canary = { name: "canary", clusterSelector: { matchLabels: { canary: "true" } } };

const withGate = (gate: object) => ({
  stages: [{ name: "all", before: [{ name: "g", ...gate }] }],
});
const withWindow = (window: object) => ({ stages: [{ name: "all", windows: [window] }] });

const tests = { name: "tests", test: {} };

const twoOrders = /stages and partitions are two orders: with stages, leave out partitions/;
const oneGate = /a gate has exactly one of soak, test, window, approval/;

/** `spec.rolloutStrategy` of a HelmOp. */
export const strategyCases: readonly RolloutCase[] = [
  { what: "nothing", spec: {} },
  {
    what: "the fields of Fleet, and nulls",
    spec: {
      maxUnavailable: "10%",
      maxUnavailablePartitions: 1,
      autoPartitionSize: null,
      partitions: [{ name: "prod", clusterSelector: prod }],
    },
  },
  {
    what: "a canary, an approval of a plan, and windows",
    spec: {
      stages: [
        {
          ...canary,
          after: [
            { name: "soak", soak: { for: "30m" } },
            { name: "tests", test: {} },
          ],
        },
        {
          name: "prod",
          clusterSelector: prod,
          upTo: "10%",
          spreadBy: "region",
          before: [{ name: "change-board", timeout: "72h", approval: { plan: true } }],
          maxUnavailable: "10%",
          maxFailures: "2.5%",
          windows: [
            { schedule: "nights" },
            { cron: "0 0 0 20 12 ?", duration: "336h", location: "Europe/Berlin", deny: true },
          ],
        },
        { name: "rest", maxFailures: 0, allowEmpty: true, minSuccess: 0 },
      ],
      onFailure: "Rollback",
      progressDeadline: "20m",
      rollback: { maxUnavailable: "50%" },
    },
  },
  {
    what: "stages beside fields of partitions that are null",
    spec: { stages: [canary], partitions: null, autoPartitionSize: null },
  },
  {
    what: "as many stages and gates as there may be",
    spec: {
      stages: Array.from({ length: 16 }, (_, index) => ({
        name: `stage-${index}`,
        before: Array.from({ length: 4 }, (__, gate) => ({
          name: `gate-${gate}`,
          external: { config: { suite: "checkout" } },
        })),
      })),
    },
  },
  { what: "a RolloutPolicy", spec: { policy: "rings" } },
  {
    what: "stages and partitions",
    spec: { stages: [canary], partitions: [{ name: "prod" }] },
    message: twoOrders,
  },
  {
    what: "stages and a size of partitions",
    spec: { stages: [canary], autoPartitionSize: 10 },
    message: twoOrders,
  },
  {
    what: "stages and a threshold of partitions",
    spec: { stages: [canary], autoPartitionThreshold: 1 },
    message: twoOrders,
  },
  {
    what: "stages and a limit of partitions",
    spec: { stages: [canary], maxUnavailablePartitions: 0 },
    message: twoOrders,
  },
  {
    what: "a RolloutPolicy and more",
    spec: { policy: "rings", maxFailures: 1 },
    message: /set nothing else beside policy/,
  },
  {
    what: "two stages of one name",
    spec: { stages: [canary, canary] },
    message: /stages have different names/,
  },
  {
    what: "no stage in its list",
    spec: { stages: [] },
    message: /stages: Invalid value: .*should have at least 1 items/,
  },
  {
    what: "seventeen stages",
    spec: { stages: Array.from({ length: 17 }, (_, index) => ({ name: `stage-${index}` })) },
    message: /stages: Too many: 17: must have at most 16 items/,
  },
  {
    what: "a stage without a name",
    spec: { stages: [{ clusterSelector: prod }] },
    message: /stages\[0\]\.name: Required value/,
  },
  {
    what: "a name with capitals",
    spec: { stages: [{ name: "Canary" }] },
    message: /stages\[0\]\.name: .*should match/,
  },
  {
    what: "a share without a percent sign",
    spec: { stages: [{ name: "wave", upTo: "0.1" }] },
    message: /stages\[0\]\.upTo: .*should match/,
  },
  {
    what: "a negative number of failures",
    spec: { stages: [{ name: "wave", maxFailures: -1 }] },
    message: /maxFailures: .*must be 0 or more/,
  },
  {
    what: "an unknown action",
    spec: { onFailure: "Abort" },
    message: /onFailure: Unsupported value: "Abort": supported values: "Halt", "Rollback"/,
  },
  {
    what: "a deadline in days",
    spec: { progressDeadline: "2d" },
    message: /progressDeadline: .*"2d": .*should match/,
  },
  { what: "a gate without a type", spec: withGate({}), message: oneGate },
  {
    what: "a gate of two types",
    spec: withGate({ soak: { for: "1h" }, test: {} }),
    message: oneGate,
  },
  {
    what: "a soak without a time",
    spec: withGate({ soak: {} }),
    message: /before\[0\]\.soak\.for: Required value/,
  },
  {
    what: "two gates of one name before a stage",
    spec: { stages: [{ name: "all", before: [tests, tests] }] },
    message: /gates of a stage have different names/,
  },
  {
    what: "two gates of one name after a stage",
    spec: { stages: [{ name: "all", after: [tests, tests] }] },
    message: /gates of a stage have different names/,
  },
  {
    what: "gates of one name before and after a stage",
    spec: { stages: [{ name: "all", before: [tests], after: [tests] }] },
    message: /gates of a stage have different names/,
  },
  {
    what: "five gates before a stage",
    spec: {
      stages: [
        {
          name: "all",
          before: Array.from({ length: 5 }, (_, index) => ({ name: `g${index}`, test: {} })),
        },
      ],
    },
    message: /before: Too many: 5: must have at most 4 items/,
  },
  {
    what: "a gate for an app of an unknown kind",
    spec: withGate({ rollout: { kind: "GitRepo", name: "base" } }),
    message: /rollout\.kind: Unsupported value: "GitRepo"/,
  },
  {
    what: "a window with neither a Schedule nor an expression",
    spec: withWindow({ deny: true }),
    message: /a window has exactly one of schedule and cron/,
  },
  {
    what: "a window with an expression and no duration",
    spec: withWindow({ cron: "0 0 22 * * ?" }),
    message: /a window with cron needs a duration/,
  },
  {
    what: "a window with a Schedule and a time zone",
    spec: withWindow({ schedule: "nights", location: "UTC" }),
    message: /leave location out/,
  },
];

const rollout = {
  bundle: { name: "web", uid: "9e1c6a2e-0000-4000-8000-000000000001" },
  app: { kind: "HelmOp", name: "web" },
  number: 7,
  revision: "sha256:00",
  version: "1.4.2",
  targets: [{ name: "target000", clusterSelector: prod, deploymentID: "sha256:01" }],
  signature: "00",
};

export const rolloutCases: readonly RolloutCase[] = [
  { what: "what the hub pins", spec: rollout },
  {
    what: "all that people write",
    spec: {
      ...rollout,
      state: "Halted",
      skip: ["fleet-default/lab-3"],
      skipStages: ["canary"],
      resume: "2026-12-01T10:00:00Z",
    },
  },
  {
    what: "an unknown state",
    spec: { ...rollout, state: "Paused" },
    message: /spec\.state: Unsupported value: "Paused": supported values: "Running", "Halted"/,
  },
  {
    what: "more clusters to skip than it holds",
    spec: { ...rollout, skip: Array.from({ length: 501 }, (_, index) => `a/${index}`) },
    message: /spec\.skip: Too many: 501: must have at most 500 items/,
  },
  {
    what: "no revision",
    spec: { ...rollout, revision: undefined },
    message: /spec\.revision: Required value/,
  },
];

export const policyCases: readonly RolloutCase[] = [
  { what: "stages", spec: { stages: [canary, { name: "rest" }], maxFailures: "1%" } },
  { what: "what Fleet has", spec: { maxUnavailable: "10%" } },
  {
    what: "stages and partitions",
    spec: { stages: [canary], autoPartitionSize: "10%" },
    message: twoOrders,
  },
];
