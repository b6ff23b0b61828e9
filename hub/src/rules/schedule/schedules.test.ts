import assert from "node:assert/strict";
import type { Cluster, ClusterGroup, Schedule } from "@flotilla/shared/api";
import { byNamespace, createStore } from "@flotilla/shared/kube/cache";
import { describe, test } from "vitest";
import { aCluster, aSchedule, workspace } from "../../testing/index.ts";
import { createSchedules, isClosed } from "./schedules.ts";

const prod = aCluster("paris", { metadata: { labels: { env: "prod" } } });
const group: ClusterGroup = {
  metadata: { name: "prod", namespace: workspace, labels: { tier: "gold" } },
  spec: { selector: { matchLabels: { env: "prod" } } },
};

function rulesOf(list: readonly Schedule[], groups: readonly ClusterGroup[] = [group]) {
  const stores = { schedules: createStore<Schedule>(), groups: createStore<ClusterGroup>() };
  for (const schedule of list) stores.schedules.set(schedule);
  for (const each of groups) stores.groups.set(each);
  return createSchedules(stores);
}

function coverage(list: readonly Schedule[], at: string, cluster: Cluster = prod) {
  return rulesOf(list).coverageOf(cluster, Date.parse(at));
}

describe("a Schedule is for", () => {
  const rows: readonly (readonly [
    what: string,
    entries: NonNullable<NonNullable<Schedule["spec"]["targets"]>["clusters"]>,
    isFor: boolean,
  ])[] = [
    ["a cluster of its name", [{ clusterName: "paris" }], true],
    ["a cluster with its labels", [{ clusterSelector: { matchLabels: { env: "prod" } } }], true],
    ["a cluster of its group", [{ clusterGroup: "prod" }], true],
    [
      "a cluster of a group with its labels",
      [{ clusterGroupSelector: { matchLabels: { tier: "gold" } } }],
      true,
    ],
    [
      "a cluster that only the second entry matches",
      [{ clusterName: "rome" }, { clusterName: "paris" }],
      true,
    ],
    ["no cluster of another name", [{ clusterName: "rome" }], false],
    [
      "no cluster that only one criterion of an entry matches",
      [{ clusterName: "paris", clusterGroup: "other" }],
      false,
    ],
    ["no cluster with an entry without criteria", [{}], false],
    ["no cluster without entries", [], false],
  ];
  for (const [what, entries, isFor] of rows) {
    test(what, () => {
      const schedule = aSchedule("nights", { targets: { clusters: [...entries] } });

      assert.equal(coverage([schedule], "2026-03-01T12:00:00Z").isScheduled, isFor);
    });
  }

  test("no cluster of another namespace", () => {
    const elsewhere = aSchedule("nights", {}, { namespace: "other" });

    assert.equal(coverage([elsewhere], "2026-03-01T12:00:00Z").isScheduled, false);
  });

  test("no cluster when it is being deleted", () => {
    const ending = aSchedule("nights", {}, { deletionTimestamp: "2026-03-01T00:00:00Z" });

    assert.equal(coverage([ending], "2026-03-01T12:00:00Z").isScheduled, false);
  });
});

describe("a cluster", () => {
  const first = aSchedule("first");
  const second = aSchedule("second", { schedule: "0 30 22 * * ?", duration: "3h30m" });
  const invalid = aSchedule("wrong", { schedule: "0 0 25 * * ?" });

  test("without Schedules is open, and nothing ever changes that", () => {
    const open = coverage([], "2026-03-01T12:00:00Z");

    assert.deepEqual(open, { isScheduled: false, isActive: false, invalid: [] });
    assert.equal(isClosed(open), false);
  });

  // biome-ignore format: a table
  const rows: readonly (readonly [what: string, list: readonly Schedule[], at: string, isActive: boolean, changesAt: string | undefined])[] = [
    ["is closed before its window", [first], "2026-03-01T21:59:59Z", false, "2026-03-01T22:00:00Z"],
    ["is open in its window", [first], "2026-03-01T22:20:00Z", true, "2026-03-01T23:00:00Z"],
    ["is open in the second of two windows when the first has closed", [first, second], "2026-03-01T23:30:00Z", true, "2026-03-02T02:00:00Z"],
    ["has two windows, of which either opens it", [first, second], "2026-03-01T22:10:00Z", true, "2026-03-01T22:30:00Z"],
    ["with an invalid Schedule is closed, and nothing but an edit changes that", [invalid], "2026-03-01T22:20:00Z", false, undefined],
    ["with an invalid Schedule is open while another one is active", [invalid, first], "2026-03-01T22:20:00Z", true, "2026-03-01T23:00:00Z"],
    ["is closed for ever after the last window", [aSchedule("once", { schedule: "0 0 0 1 1 ? 2027" })], "2027-01-01T01:30:00Z", false, undefined],
  ];
  for (const [what, list, at, isActive, changesAt] of rows) {
    test(what, () => {
      const { invalid: _, ...state } = coverage(list, at);

      assert.deepEqual(state, {
        isScheduled: true,
        isActive,
        ...(changesAt !== undefined && { changesAtMs: Date.parse(changesAt) }),
      });
      assert.equal(isClosed(coverage(list, at)), !isActive);
    });
  }

  test("names its invalid Schedules with what is wrong", () => {
    assert.deepEqual(coverage([invalid, first], "2026-03-01T12:00:00Z").invalid, [
      { name: "wrong", problem: "the hour 25 is not between 0 and 23" },
    ]);
  });

  test("is closed by whatever is wrong with a Schedule", () => {
    const faults: readonly (readonly [Schedule["spec"], RegExp])[] = [
      [{ duration: "24h" }, /^duration is too long and overlaps with the next execution time/],
      [{ duration: null }, /^the duration is missing/],
      [{ location: "Mars/Base" }, /^the location "Mars\/Base" is not the name of a time zone/],
      [
        { targets: { clusters: [{ clusterName: "paris" }, badSelector] } },
        /^spec\.targets\.clusters\[1\]\.clusterSelector cannot be used: /,
      ],
      [
        { targets: { clusters: Array.from({ length: 1_001 }, () => ({ clusterName: "paris" })) } },
        /^spec\.targets\.clusters has 1001 entries/,
      ],
    ];
    for (const [spec, problem] of faults) {
      const state = coverage([aSchedule("nights", spec)], "2026-03-01T22:20:00Z");
      assert.equal(isClosed(state), true);
      assert.match(state.invalid[0]?.problem ?? "", problem);
    }
  });
});

test("invalid Schedules are listed by name, in whichever order a leader has seen them", () => {
  const wrong = (name: string) => aSchedule(name, { schedule: "0 0 25 * * ?" });

  const { invalid } = coverage([wrong("b"), wrong("a")], "2026-03-01T22:20:00Z");

  assert.deepEqual(
    invalid.map(({ name }) => name),
    ["a", "b"],
  );
});

const badSelector = { clusterSelector: { matchLabels: { "not a label": "x" } } };

test("the state at a time does not depend on what was asked before", () => {
  const list = [
    aSchedule("first"),
    aSchedule("often", { schedule: "0 0/20 * * * ?", duration: "7m" }),
  ];
  const asked = rulesOf(list);
  const from = Date.parse("2026-03-01T20:00:00Z");
  const times = Array.from({ length: 40 }, (_, at) => from + ((at * 17) % 40) * 6 * 60_000);
  for (const at of times)
    assert.deepEqual(asked.coverageOf(prod, at), rulesOf(list).coverageOf(prod, at));
});

test("a Schedule that was edited counts at once", () => {
  const stores = { schedules: createStore<Schedule>(), groups: createStore<ClusterGroup>() };
  const rules = createSchedules(stores);
  const at = Date.parse("2026-03-01T22:20:00Z");
  stores.schedules.set(aSchedule("nights", {}, { resourceVersion: "1" }));
  assert.equal(rules.coverageOf(prod, at).isActive, true);

  const edited = { generation: 2, resourceVersion: "2" };
  stores.schedules.set(aSchedule("nights", { schedule: "0 0 4 * * ?" }, edited));

  assert.equal(rules.coverageOf(prod, at).isActive, false);
  assert.equal(stores.schedules.byIndex(byNamespace, workspace).length, 1);
});
