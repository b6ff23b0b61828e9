import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { parseUserRequest, type UserRequest } from "./parse-request.ts";

const of = "/requests/v1/namespaces/shop/helmops/web";
const web = { workspace: "shop", kind: "HelmOp", name: "web" } as const;
const defaults = { kind: "log", tailLines: 100, previous: false, tests: false } as const;

describe("the address of a request", () => {
  const valid: readonly (readonly [string, UserRequest])[] = [
    [`${of}/history`, { ...web, body: { kind: "history" } }],
    [`${of}/diff?cluster=paris`, { ...web, cluster: "paris", body: { kind: "diff" } }],
    [
      "/requests/v1/namespaces/shop/bundles/web/diff?cluster=other%2Fparis",
      { ...web, kind: "Bundle", cluster: "other/paris", body: { kind: "diff" } },
    ],
    [
      "/requests/v1/namespaces/apps/helmreleases/web/history",
      { workspace: "apps", kind: "HelmRelease", name: "web", body: { kind: "history" } },
    ],
    [`${of}/log`, { ...web, body: defaults }],
    [
      `${of}/log?pod=web-0&container=main&tail=7&since=90s&previous=true&tests=false`,
      {
        ...web,
        body: {
          ...defaults,
          ...{ pod: "web-0", container: "main", tailLines: 7, sinceSeconds: 90, previous: true },
        },
      },
    ],
  ];
  for (const [url, request] of valid)
    test(`is read: ${url}`, () => assert.deepEqual(parseUserRequest(url), request));

  const invalid: readonly (readonly [string, RegExp])[] = [
    ["/requests/v1/", /^the address is not/],
    [`${of}/logs`, /^a request is for log, diff, .*, not logs$/],
    [`${of}/log/x`, /^the address is not/],
    ["/requests/v1/namespaces/shop/pods/web/log", /^the address is not/],
    ["/requests/v1/namespaces/..%2Fx/helmops/web/log", /^the address is not/],
    [`${of}/diff?tail=3`, /has no parameter tail/],
    [`${of}/log?tail=0`, /tail is not a number/],
    [`${of}/log?tail=x`, /tail is not a number/],
    [`${of}/log?since=-1s`, /since is not a duration/],
    [`${of}/log?previous=1`, /previous is neither/],
    [`${of}/log?pod=a/b`, /pod is not a name/],
    [`${of}/log?cluster=a/b/c`, /cluster is not a name/],
  ];
  for (const [url, message] of invalid)
    test(`is rejected: ${url}`, () =>
      assert.throws(() => parseUserRequest(url), { code: "REQUEST_INVALID", message }));
});
