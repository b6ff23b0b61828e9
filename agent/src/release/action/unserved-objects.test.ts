import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { describe, test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import type { ImpersonatedClient } from "../../base/impersonation/impersonated-clients.ts";
import type { ReleaseRecord } from "../../helm/cli/release-record.ts";
import type { KindChange } from "../../helm/record/kind-changes.ts";
import { contentDigest, type StoredRelease } from "../../helm/record/stored-release.ts";
import { readRecordsHere } from "../../helm/record/testing/index.ts";
import { createUnservedObjects, skippedText } from "./unserved-objects.ts";

const { signal } = new AbortController();
const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";
const car = (name: string, more = "") =>
  `apiVersion: example.com/v1\nkind: Car\nmetadata: {name: ${name}${more}}\n`;
const record: ReleaseRecord = {
  ...{ namespace: "apps", name: "web", revision: 2, status: "deployed" },
  ...{ isOwn: true, modifiedAtMs: 0, version: "1" },
};

/** `served`: what discovery answers, by path. */
function setUp(
  manifest: string,
  served: Readonly<Record<string, object>> = {},
  fails: { readonly read?: Error; readonly rewrite?: Error } = {},
  hooks: StoredRelease["hooks"] = [],
) {
  const rest = createMemoryApiServer();
  for (const [path, answer] of Object.entries(served))
    rest.rawResponses.set(path, JSON.stringify(answer));
  const client: ImpersonatedClient = {
    ...{ subject: "service account apps/deployer", isAgent: false, rest, helmArgs: [] },
    watch: { subject: "the agent", rest, isPerNamespace: false },
  };
  const release: StoredRelease = {
    ...{ namespace: "apps", name: "web", revision: 2, status: "deployed", manifest },
    ...{ content: contentDigest(manifest, []), tests: [], hooks },
    ...{ chartName: "web", chartVersion: "1.0.0", appVersion: "" },
  };
  const written: string[] = [];
  const changedHooks: KindChange[] = [];
  const unserved = createUnservedObjects({
    stored: {
      read: () =>
        fails.read === undefined ? Promise.resolve(release) : Promise.reject(fails.read),
      rewrite(_rest, _release, { manifest: text, hookKinds }) {
        if (fails.rewrite !== undefined) return Promise.reject(fails.rewrite);
        written.push(text);
        if (hookKinds !== undefined) changedHooks.push(...hookKinds);
        return Promise.resolve();
      },
    },
    records: readRecordsHere,
    log: silentLog(),
  });
  return {
    ...{ written, changedHooks },
    leaveOut: (withoutHooks = false) => unserved.leaveOut(record, { client, withoutHooks, signal }),
  };
}

describe("a release that is uninstalled", () => {
  test("stays as it is while all kinds are served", async () => {
    const { written, leaveOut } = setUp(`---\n${car("a")}---\n${config}`, {
      "/apis/example.com/v1": { resources: [{ name: "cars", kind: "Car" }] },
    });

    assert.deepEqual(await leaveOut(), []);
    assert.deepEqual(written, []);
  });

  test("is uninstalled without the objects whose kind is gone, and they are returned", async () => {
    const { written, leaveOut } = setUp(
      `---\n${car("a")}---\n${config}---\n${car("b", ", namespace: other")}`,
    );

    const skipped = await leaveOut();

    assert.deepEqual(written, [`---\n---\n${config}---\n`]);
    assert.equal(
      skippedText(skipped),
      "; skipped, because the cluster does not have their kinds any more: Car a, Car other/b",
    );
  });

  test("is uninstalled in a version that is served, and nothing is skipped", async () => {
    const { written, leaveOut } = setUp(`---\n${car("a")}`, {
      "/apis/example.com": { versions: [{ groupVersion: "example.com/v2", version: "v2" }] },
      "/apis/example.com/v2": { resources: [{ name: "cars", kind: "Car" }] },
    });

    assert.equal(skippedText(await leaveOut()), "");
    assert.deepEqual(written, [`---\n${car("a").replace("/v1", "/v2")}`]);
  });

  test("waits for a kind that is unavailable, and nothing is written", async () => {
    const { written, leaveOut } = setUp(
      `---\n${car("a")}---\napiVersion: gone.com/v1\nkind: Gone\nmetadata: {name: g}\n`,
      {
        "/apis/example.com": { versions: [{ groupVersion: "example.com/v1", version: "v1" }] },
      },
    );

    await assert.rejects(leaveOut(), {
      code: "KIND_UNAVAILABLE",
      message:
        "release apps/web is not uninstalled, because the API server cannot serve kind Car of example.com/v1 now (Car a): example.com/v1: the API server does not serve it now; nothing was changed",
    });
    assert.deepEqual(written, []);
  });

  test("is uninstalled without its hooks of a kind that is gone, unless it is without hooks anyway", async () => {
    const hook = (name: string, event: string): StoredRelease["hooks"][number] => ({
      ...{ kind: "Car", name, events: [event], weight: 0, deletePolicies: [], head: car(name) },
    });
    const hooks = [hook("a", "post-delete"), hook("b", "pre-upgrade"), hook("c", "pre-delete")];
    const { written, changedHooks, leaveOut } = setUp(config, {}, {}, hooks);

    assert.deepEqual(await leaveOut(true), []);
    assert.deepEqual(written, []);
    assert.equal(
      skippedText(await leaveOut()),
      "; skipped, because the cluster does not have their kinds any more: hook Car a, hook Car c",
    );
    assert.deepEqual(written, [config]);
    assert.deepEqual(changedHooks, [{ apiVersion: "example.com/v1", kind: "Car" }]);
  });

  test("whose record cannot be read is Helm's", async () => {
    const read = new AppError(agentErrors.RELEASE_UNREADABLE, "no gzip");
    assert.deepEqual(await setUp("", {}, { read }).leaveOut(), []);
  });

  test("needs the right to update its record, and says so", async () => {
    const rewrite = new KubeStatusError("update secrets: 403", {
      status: 403,
      reason: "Forbidden",
    });

    await assert.rejects(setUp(`---\n${car("a")}`, {}, { rewrite }).leaveOut(), {
      code: "HELM_FAILED",
      message:
        "uninstall release apps/web without the objects whose kinds the cluster does not serve any more: update Secret apps/sh.helm.release.v1.web.v2 as service account apps/deployer, which needs the right to update it: update secrets: 403",
    });
  });
});
