import assert from "node:assert/strict";
import type { Bundle, BundleOrigin } from "@flotilla/shared/api";
import type { HelmRelease } from "@flotilla/shared/flux";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { describe, type TestContext, test } from "vitest";
import { bundleOf as planned } from "../../rules/frontend/planned-bundle.ts";
import { createWatchedStore } from "../../testing/index.ts";
import { planRelease } from "./plan.ts";
import { createObjectRefreshController, originObjects } from "./refresh-objects.ts";
import { aHelmRelease, resolvedWeb } from "./testing/index.ts";

const valuesFrom = [{ kind: "ConfigMap", name: "settings" }] as const;
const requested = (at: string) => ({ "reconcile.fluxcd.io/requestedAt": at });

function setUp(t: TestContext, spec: Partial<NonNullable<HelmRelease["spec"]>> = {}) {
  const helmReleases = createWatchedStore<HelmRelease>();
  const clock = createFakeClock();
  const reads: string[] = [];
  let onRead: (read: string) => void = () => undefined;
  const ending = new AbortController();
  const bundleOf = (release: HelmRelease): Bundle =>
    planned(planRelease(release, { chart: resolvedWeb, destination: { targets: [] } }), {
      pins: [],
    });
  const controller = createObjectRefreshController({
    helmReleases,
    bundles: { get: (key) => (key.startsWith("apps/") ? bundleOf(release(0)) : undefined) },
    objects: {
      refresh(namespace, { kind, name }) {
        reads.push(`${kind} ${namespace}/${name}`);
        onRead(`${kind} ${namespace}/${name}`);
        return Promise.resolve({ kind: "absent" });
      },
    },
    ...{ clock, log: silentLog(), metrics: new Registry() },
  });
  const running = controller.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  function release(version: number, annotations: Readonly<Record<string, string>> = {}) {
    const metadata = { resourceVersion: String(version), annotations };
    return aHelmRelease({ interval: "10m", valuesFrom, ...spec }, metadata);
  }
  return {
    ...{ clock, reads },
    nextRead: () => new Promise<string>((resolve) => (onRead = resolve)),
    saw: (...args: Parameters<typeof release>) => helmReleases.saw(release(...args)),
  };
}

test("the Secrets and ConfigMaps of a HelmRelease are read again in its interval, and when a reconcile is requested", async (t) => {
  const { clock, nextRead, reads, saw } = setUp(t);
  saw(1);
  await clock.timer((delayMs) => delayMs === 10 * 60_000);
  assert.deepEqual(reads, []);

  const inInterval = nextRead();
  await clock.advance(10 * 60_000);
  assert.equal(await inInterval, "ConfigMap apps/settings");

  const onRequest = nextRead();
  saw(2, requested("now"));
  assert.equal(await onRequest, "ConfigMap apps/settings");
});

describe("the objects of an origin", () => {
  const access = { kind: "GitRepository", url: "https://git.example.com/a" } as const;
  const rows: readonly (readonly [string, BundleOrigin | undefined, readonly string[]])[] = [
    ["are none without one", undefined, []],
    [
      "are those of all its sources and values, once each",
      {
        ...{ kind: "HelmRelease", name: "web" },
        access: { ...access, secret: "a/git", certSecret: "a/tls", proxySecret: "a/proxy" },
        included: [{ ...access, secret: "a/git" }],
        dependencies: [
          { kind: "HelmRepository", url: "https://c.example.com", secret: "a/charts" },
        ],
        valuesFrom: [{ kind: "ConfigMap", name: "a/values", key: "values.yaml" }],
      },
      ["Secret/a/git", "Secret/a/tls", "Secret/a/proxy", "Secret/a/charts", "ConfigMap/a/values"],
    ],
  ];
  test.each(rows)("%s", (_, origin, expected) =>
    assert.deepEqual(
      originObjects(origin).map(({ kind, name }) => `${kind}/${name}`),
      expected,
    ),
  );
});
