import assert from "node:assert/strict";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { describe, test } from "vitest";
import { createFindServedKind, type ServedKind } from "./served-kinds.ts";

const { signal } = new AbortController();
const car = { apiVersion: "example.com/v1", kind: "Car" };
const versions = (...names: readonly string[]) => ({
  versions: names.map((version) => ({ groupVersion: `example.com/${version}`, version })),
});
const resources = (...kinds: readonly string[]) => ({
  resources: kinds.flatMap((kind) => [
    { name: `${kind.toLowerCase()}s`, kind },
    { name: `${kind.toLowerCase()}s/scale`, kind: "Scale" },
  ]),
});

/** Numbers are the status of an error; what is not there is not found. */
type Discovery = Readonly<Record<string, object | number>>;

function setUp(discovery: Discovery) {
  const requests: string[] = [];
  const raw = (path: string): Promise<string> => {
    requests.push(path);
    const answer = discovery[path] ?? 404;
    if (typeof answer === "object") return Promise.resolve(JSON.stringify(answer));
    const error = { status: answer, reason: "" };
    return Promise.reject(new KubeStatusError(`get ${path}: ${answer}`, error));
  };
  return { requests, find: createFindServedKind({ raw }, signal) };
}

const cases: readonly (readonly [
  what: string,
  discovery: Discovery,
  object: typeof car,
  expected: ServedKind,
])[] = [
  ["is served", { "/apis/example.com/v1": resources("Car") }, car, { kind: "served" }],
  [
    "is served if it is built in, without a request",
    {},
    { apiVersion: "apps/v1", kind: "Deployment" },
    { kind: "served" },
  ],
  ["is gone with its group", {}, car, { kind: "gone" }],
  [
    "is gone if its version has other kinds alone",
    { "/apis/example.com/v1": resources("Bus"), "/apis/example.com": versions("v1") },
    car,
    { kind: "gone" },
  ],
  [
    "is not the subresource of another kind",
    { "/apis/example.com/v1": resources("Car"), "/apis/example.com": versions("v1") },
    { ...car, kind: "Scale" },
    { kind: "gone" },
  ],
  [
    "is gone if other versions of its group have other kinds alone",
    { "/apis/example.com/v2": resources("Bus"), "/apis/example.com": versions("v2") },
    car,
    { kind: "gone" },
  ],
  [
    "is gone if the core group does not have it",
    { "/api/v1": resources("Pod") },
    { apiVersion: "v1", kind: "Car" },
    { kind: "gone" },
  ],
  [
    "is in another version",
    {
      "/apis/example.com/v1": resources("Bus"),
      "/apis/example.com/v2": resources("Car"),
      "/apis/example.com": versions("v2", "v1"),
    },
    car,
    { kind: "in another version", apiVersion: "example.com/v2" },
  ],
  [
    "is unavailable if the server of its APIService does not answer",
    { "/apis/example.com/v1": 503, "/apis/example.com": versions("v1") },
    car,
    { kind: "unavailable", why: "get /apis/example.com/v1: 503" },
  ],
  [
    "is unavailable if another version of its group is",
    { "/apis/example.com/v2": 503, "/apis/example.com": versions("v2") },
    car,
    { kind: "unavailable", why: "example.com/v2: get /apis/example.com/v2: 503" },
  ],
  [
    "is unavailable if its group has a version that nothing serves",
    { "/apis/example.com": versions("v1") },
    car,
    { kind: "unavailable", why: "example.com/v1: the API server does not serve it now" },
  ],
  [
    "is unavailable if discovery is forbidden",
    { "/apis/example.com/v1": 403 },
    car,
    { kind: "unavailable", why: "get /apis/example.com/v1: 403" },
  ],
  [
    "is unavailable if its group cannot be asked for",
    { "/apis/example.com": 500 },
    car,
    { kind: "unavailable", why: "get /apis/example.com: 500" },
  ],
];

describe("a kind", () => {
  for (const [what, discovery, object, expected] of cases)
    test(what, async () => {
      assert.deepEqual(await setUp(discovery).find(object), expected);
    });
});

test("each version is asked for once", async () => {
  const { requests, find } = setUp({ "/apis/example.com/v1": resources("Car", "Bus") });

  await Promise.all(["Car", "Bus", "Car"].map((kind) => find({ ...car, kind })));

  assert.deepEqual(requests, ["/apis/example.com/v1"]);
});

test("an abort is not an answer", async () => {
  const stopped = AbortSignal.abort(new Error("stopped"));
  const raw = () => Promise.reject(new Error("aborted"));

  await assert.rejects(createFindServedKind({ raw }, stopped)(car), /stopped/);
});
