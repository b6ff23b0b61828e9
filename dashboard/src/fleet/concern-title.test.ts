import assert from "node:assert/strict";
import { test } from "vitest";
import type { Concern } from "./concern.ts";
import { concernTitle } from "./concern-title.ts";

const named = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    ...{ kind: "Cluster" as const, namespace: "ns", name: `c${n}` },
  }));
const concern: Concern = {
  kind: "Cluster",
  ...{ namespace: "ns", name: "c0", suspended: false, reason: "", code: "", message: "" },
  ...{ since: "", clusters: 1, secret: "", host: "", examples: [], values: [], blocker: undefined },
  ...{ state: "Offline", harm: "down", same: [], affected: [] },
};

const rows: readonly (readonly [
  what: string,
  more: Partial<Concern>,
  text: string | undefined,
  href: string | undefined,
])[] = [
  ["one cluster", {}, undefined, undefined],
  [
    "an outage",
    { same: named(100) },
    "100 clusters offline",
    "/clusters?state=Offline&namespace=ns",
  ],
  [
    "clusters without agents",
    { state: "WaitCheckIn", same: named(3) },
    "3 clusters without an agent yet",
    "/clusters?state=WaitCheckIn&namespace=ns",
  ],
  [
    "apps of one host",
    { kind: "HelmOp", state: "NotAccepted", host: "charts.example.com", same: named(2) },
    "charts.example.com: 2 apps affected",
    "/apps?state=NotAccepted&namespace=ns",
  ],
];
test.each(rows)("the title of %s", (_, more, text, href) => {
  const title = concernTitle({ ...concern, ...more });
  assert.deepEqual([title?.text, title?.href], [text, href]);
});
