import assert from "node:assert/strict";
import { test } from "vitest";
import { eventTable } from "./event-table.ts";
import { resourceTree } from "./resource-tree.ts";

test("objects are printed below what has created them", () => {
  const hook = { events: ["pre-install", "pre-upgrade"], weight: 0 };
  const objects = [
    { uid: "j", kind: "Job", namespace: "shop", name: "migrate", state: "failed", hook },
    {
      ...{ uid: "p", parent: "j", kind: "Pod", namespace: "shop", name: "migrate-1" },
      ...{ state: "failed", hook },
    },
    { kind: "Pod", name: "smoke", state: "ready", hook: { events: ["test"], weight: 0 } },
    { uid: "1", kind: "Deployment", namespace: "shop", name: "web", state: "in-progress" },
    { uid: "2", parent: "1", kind: "ReplicaSet", namespace: "shop", name: "web-1", state: "ready" },
    {
      ...{ uid: "3", parent: "2", kind: "Pod", namespace: "shop", name: "web-1-a" },
      ...{ state: "in-progress", message: "is not scheduled: no\nnode" },
    },
    { uid: "4", parent: "2", kind: "Pod", namespace: "shop", name: "web-1-b", state: "ready" },
    { uid: "5", parent: "1", kind: "ReplicaSet", namespace: "shop", name: "web-0", state: "ready" },
    { kind: "Namespace", namespace: "", name: "shop", state: "missing" },
    { more: 3 },
  ];
  assert.equal(
    resourceTree(objects.map((object) => `${JSON.stringify(object)}\n`).join("")),
    `Job/shop/migrate (hook pre-install, pre-upgrade) failed
└── Pod/shop/migrate-1 failed
Pod/smoke (test) ready
Deployment/shop/web in-progress
├── ReplicaSet/shop/web-1 ready
│   ├── Pod/shop/web-1-a in-progress: is not scheduled: no node
│   └── Pod/shop/web-1-b ready
└── ReplicaSet/shop/web-0 ready
Namespace/shop missing
and 3 more
`,
  );
});

test("events are a table as kubectl prints them", () => {
  const event = {
    ...{ time: "2026-01-01T00:00:00.123456Z", type: "Warning", reason: "BackOff", count: 3 },
    ...{ message: "back-off\nrestarting", object: { kind: "Pod", namespace: "shop", name: "web" } },
  };
  assert.equal(
    eventTable(`${JSON.stringify(event)}\n`),
    `LAST SEEN              TYPE      REASON    COUNT   OBJECT         MESSAGE
2026-01-01T00:00:00Z   Warning   BackOff   3       Pod/shop/web   back-off restarting
`,
  );
  assert.equal(eventTable(""), "no events in the last hour\n");
});
