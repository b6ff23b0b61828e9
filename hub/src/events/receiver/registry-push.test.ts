import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { test } from "vitest";
import { type Push, readPush } from "./registry-push.ts";

const push = {
  id: "one",
  action: "push",
  target: {
    repository: "charts/web",
    url: "http://registry.example.com:5000/v2/charts/web/manifests/sha256:0",
    tag: "1.0.0",
  },
  request: { host: "internal:5000" },
};
const harbor = {
  type: "PUSH_ARTIFACT",
  occur_at: 1_700_000_000,
  event_data: {
    resources: [{ tag: "1.0.0", resource_url: "Harbor.example.com/library/web:1.0.0" }],
    repository: { name: "web", repo_full_name: "library/web" },
  },
};
const library = { host: "harbor.example.com", path: "library/web" };
const body = (value: unknown) => JSON.stringify(value);
const digest = (text: string) => createHash("sha256").update(text).digest("base64");

const cases: readonly (readonly [what: string, body: string, push: Push])[] = [
  [
    "distribution reports a push",
    body({ events: [push] }),
    {
      kind: "named",
      repositories: [{ host: "registry.example.com:5000", path: "charts/web" }],
      delivery: digest("one"),
    },
  ],
  [
    "distribution reports a push without an address",
    body({ events: [{ ...push, target: { repository: "charts/web" } }] }),
    {
      kind: "named",
      repositories: [{ host: "internal:5000", path: "charts/web" }],
      delivery: digest("one"),
    },
  ],
  [
    "distribution reports several, of which one is a pull",
    body({
      events: [
        push,
        { ...push, id: "two", action: "pull" },
        { ...push, id: "three", action: "delete" },
      ],
    }),
    {
      kind: "named",
      repositories: [
        { host: "registry.example.com:5000", path: "charts/web" },
        { host: "registry.example.com:5000", path: "charts/web" },
      ],
      delivery: digest("one three"),
    },
  ],
  [
    "distribution reports a pull",
    body({ events: [{ ...push, action: "pull" }] }),
    { kind: "nothing" },
  ],
  [
    "distribution reports a layer",
    body({
      events: [
        {
          ...push,
          target: {
            repository: "charts/web",
            url: "http://registry.example.com:5000/v2/charts/web/blobs/sha256:0",
          },
        },
      ],
    }),
    { kind: "nothing" },
  ],
  ["distribution reports no events", body({ events: [] }), { kind: "nothing" }],
  [
    "Harbor reports a push",
    body(harbor),
    { kind: "named", repositories: [library], delivery: digest(body(harbor)) },
  ],
  [
    "Harbor reports a push by digest, as a CloudEvent",
    body({
      specversion: "1.0",
      type: "harbor.artifact.pushed",
      data: {
        resources: [{ resource_url: "harbor.example.com:8443/library/web@sha256:0" }],
        repository: {},
      },
    }),
    {
      kind: "named",
      repositories: [{ host: "harbor.example.com:8443", path: "library/web" }],
      delivery: digest(
        body({
          specversion: "1.0",
          type: "harbor.artifact.pushed",
          data: {
            resources: [{ resource_url: "harbor.example.com:8443/library/web@sha256:0" }],
            repository: {},
          },
        }),
      ),
    },
  ],
  [
    "Harbor names the repository alone",
    body({ type: "PUSH_ARTIFACT", event_data: { repository: { repo_full_name: "library/web" } } }),
    {
      kind: "named",
      repositories: [{ path: "library/web" }],
      delivery: digest(
        body({
          type: "PUSH_ARTIFACT",
          event_data: { repository: { repo_full_name: "library/web" } },
        }),
      ),
    },
  ],
  ["Harbor reports a scan", body({ ...harbor, type: "SCANNING_COMPLETED" }), { kind: "nothing" }],
  [
    "a generic sender names a registry's repository",
    body({ repository: "oci://Registry.example.com/charts/web/" }),
    { kind: "named", repositories: [{ host: "registry.example.com", path: "charts/web" }] },
  ],
  [
    "a generic sender names a repository's address",
    body({ repository: "https://charts.example.com" }),
    { kind: "named", repositories: [{ host: "charts.example.com", path: "" }] },
  ],
  [
    "a generic sender names it without a scheme",
    body({ repository: "localhost:5000/web" }),
    { kind: "named", repositories: [{ host: "localhost:5000", path: "web" }] },
  ],
  [
    "a generic sender names a path",
    body({ repository: "charts/web" }),
    { kind: "named", repositories: [{ path: "charts/web" }] },
  ],
  ["a generic sender names nothing", "{}", { kind: "all" }],
  ["an empty body", "", { kind: "all" }],
  ["it is not JSON", "repository=web", { kind: "invalid" }],
  ["it is not an object", "[1]", { kind: "invalid" }],
  ["it has a name that is not a string", body({ repository: 1 }), { kind: "invalid" }],
];
for (const [what, text, expected] of cases) {
  test(`${what}: ${expected.kind}`, () => {
    assert.deepEqual(readPush(text), expected);
  });
}

test("any body is parsed or invalid, and the delivery id is short", () => {
  const leaf = fc.oneof(
    fc.json(),
    fc.webUrl(),
    fc.constantFrom("push", "PUSH_ARTIFACT", "//", "::"),
  );
  const target = fc.record({ repository: leaf, url: leaf }, { requiredKeys: [] });
  const event = fc.record({ id: leaf, action: leaf, target }, { requiredKeys: [] });
  const bodies = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.record({ events: fc.array(event) }).map(body),
    fc
      .record({
        type: leaf,
        event_data: fc.record({
          resources: fc.array(fc.record({ resource_url: leaf })),
          repository: fc.record({ repo_full_name: leaf }),
        }),
      })
      .map(body),
    fc.record({ repository: leaf }).map(body),
  );
  fc.assert(
    fc.property(bodies, (text) => {
      const read = readPush(text);

      if (read.kind === "named")
        for (const { path } of read.repositories) assert.ok(path.length <= text.length);
    }),
  );
});
