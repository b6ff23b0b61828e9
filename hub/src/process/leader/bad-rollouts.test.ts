/**
 * What can be wrong with a rollout, a row for each case: the object that it concerns names it, with the field and what to change, while
 * another app of the namespace is rolled out. By the controllers of a leader on an API server in memory, which has no schema: what a
 * definition refuses at once is refused by the hub, too. Windows and gates are in
 * `bad-gates.test.ts`, and what is wrong in mid rollout in `bad-changes.test.ts`.
 */
import { aSchedule } from "../../testing/index.ts";
import { canary, inField, rest, stages, testRows, wrongSelector } from "./testing/index.ts";

const badLabel = 'cannot be used: "a b" cannot be the name of a label';
const order = "and both say an order or a pace: remove one of them";

testRows({
  "invalid selectors": [
    [
      "of a stage",
      stages({ name: "a", clusterSelector: wrongSelector }, rest),
      "HelmOp",
      inField("stages[0].clusterSelector", badLabel),
    ],
    [
      "of groups",
      stages({ name: "a", clusterGroupSelector: wrongSelector }, rest),
      "HelmOp",
      inField("stages[0].clusterGroupSelector", badLabel),
    ],
    [
      "of a partition",
      { strategy: { partitions: [{ clusterSelector: wrongSelector }] } },
      "HelmOp",
      inField("partitions[0].clusterSelector", badLabel),
    ],
    [
      "of a Schedule",
      {
        ...stages(rest),
        schedules: [
          aSchedule("nights", { targets: { clusters: [{ clusterSelector: wrongSelector }] } }),
        ],
      },
      "Schedule",
      `spec.targets.clusters[0].clusterSelector ${badLabel}; its clusters are not changed until this is corrected, except while another Schedule of theirs is active`,
    ],
  ],
  partitions: [
    [
      "together with stages",
      { strategy: { stages: [rest], partitions: [{ clusterSelector: {} }] } },
      "HelmOp",
      inField("partitions", `is set together with stages, maxFailures or onFailure, ${order}`),
    ],
    [
      "that overlap",
      { strategy: { partitions: [{ ...canary }, { clusterSelector: {} }] } },
      "Bundle",
      "spec.rolloutStrategy.partitions[0] and spec.rolloutStrategy.partitions[1] take the cluster ams: it is updated with the first and counts in both; narrow one of them if that is not meant",
    ],
    [
      "that miss clusters",
      { strategy: { partitions: [{ ...canary }] } },
      "Bundle",
      "none of spec.rolloutStrategy.partitions takes 2 clusters (ber, cgn): nothing is deployed there",
    ],
  ],
  numbers: [
    [
      "percentages that are none, of stages",
      { strategy: { stages: [rest], maxUnavailable: "ten%" } },
      "HelmOp",
      inField(
        "maxUnavailable",
        'is "ten%": write a whole number, or a percentage that ends with %',
      ),
    ],
    [
      "percentages that are none, of one stage",
      stages({ name: "all", maxUnavailable: "ten%" }),
      "HelmOp",
      inField("stages[0].maxUnavailable", 'is "ten%": set a whole number, or a share such as 10%'),
    ],
    [
      "percentages that are none, of partitions",
      { strategy: { maxUnavailable: "ten%" } },
      "HelmOp",
      inField(
        "maxUnavailable",
        'is "ten%": write a whole number, or a percentage that ends with %',
      ),
    ],
    [
      "maxUnavailable: 0 of stages",
      { strategy: { stages: [rest], maxUnavailable: 0 } },
      "HelmOp",
      inField(
        "maxUnavailable",
        "is 0, with which no cluster could be promoted: set 1 or more, or pause the app",
      ),
    ],
    [
      "maxUnavailable: 0 of partitions, which Fleet has as well",
      { strategy: { maxUnavailable: 0 } },
      "Bundle",
      "spec.rolloutStrategy.maxUnavailable is 0: clusters that are available are never updated",
    ],
  ],
  "the list of stages": [
    [
      "two of one name",
      stages({ name: "a", ...canary }, { name: "a" }),
      "HelmOp",
      inField("stages[1].name", "is a, the name of an earlier stage: give it another name"),
    ],
    [
      "seventeen",
      stages(...Array.from({ length: 17 }, (_, at) => ({ name: `s${at}`, ...canary }))),
      "HelmOp",
      inField("stages", "has 17 entries, more than the limit of 16: join some"),
    ],
    [
      "forty-two gates in all",
      stages(
        ...Array.from({ length: 14 }, (_, at) => ({
          name: `s${at}`,
          ...canary,
          before: [1, 2, 3].map((gate) => ({ name: `g${gate}`, approval: {} })),
        })),
      ),
      "HelmOp",
      inField(
        "stages",
        "have 42 gates together, more than the limit of 40, which a BundleRollout has room for: join some",
      ),
    ],
    [
      "one before others that matches everything",
      stages({ name: "a", clusterSelector: {} }, rest),
      "HelmOp",
      inField(
        "stages[0]",
        "takes every cluster that is left, so that the stages after it get none: give it criteria or upTo, or make it the last one",
      ),
    ],
    [
      "one that matches nothing",
      stages({ name: "a", clusterName: "gone" }, rest),
      "BundleRollout",
      "stage a matches none of 3 clusters: correct its selector, or set allowEmpty",
    ],
    [
      "one that is offline altogether",
      { ...stages({ name: "a", ...canary }, rest), offline: ["ams"] },
      "BundleRollout",
      "stage a: 0 of 1 done, fleet-default/ams offline since 2025-12-24T18:00:00Z: connect or resume enough of them, or change minSuccess",
    ],
    [
      "clusters in none",
      stages({ name: "a", ...canary }),
      "Bundle",
      "none of the stages of rolloutStrategy takes 2 clusters: fleet-default/ber, fleet-default/cgn; nothing is promoted there: add a stage without criteria at the end, or change a selector",
    ],
  ],
  sizes: [
    [
      "targets beyond 256 KiB with stages",
      {
        ...stages(rest),
        spec: {
          targets: [
            ...Array.from({ length: 900 }, (_, at) => ({
              clusterSelector: { matchLabels: { site: `site-${at}`, ...longLabels() } },
              doNotDeploy: true,
            })),
            { clusterSelector: {} },
          ],
        },
      },
      "Bundle",
      "spec.targets have 325837 bytes of criteria and references, more than the 262144 that a staged rollout can pin: select several clusters with one target, or divide it into several objects",
    ],
  ],
});

/** Nearly as long as labels can be. */
function longLabels(): Readonly<Record<string, string>> {
  return Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, "x".repeat(60)]));
}
