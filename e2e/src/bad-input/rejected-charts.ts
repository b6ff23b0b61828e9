/** Charts that the hub resolves and the agent rejects, and sources whose content changes. */

import assert from "node:assert/strict";
import { waitUntil } from "@flotilla/local/process";
import { findCondition } from "@flotilla/shared/conditions";
import { events } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { hangMs } from "../harness/hang.ts";
import { messageOf } from "../harness/wait.ts";
import type { BadInputFleet } from "./bad-input-fleet.ts";
import { indexText } from "./faulty-repositories.ts";

export function testRejectedCharts({
  fleet,
  cluster,
  good,
  faulty,
  goodSpec,
  password,
  ...fixture
}: BadInputFleet): void {
  const { workspace } = fleet;

  const from = (fault: string, helm: object = {}) => ({
    ...goodSpec,
    helm: { ...goodSpec.helm, repo: faulty.at(fault), ...helm },
  });

  /** The message of the BundleDeployment once the agent has rejected the chart. */
  async function rejectionOf(name: string): Promise<string> {
    const helmOp = await workspace.waitForHelmOp(name, "rejected by the agent", ({ status }) =>
      /^ErrApplied\(1\) \[Cluster fleet-default\/cluster-1: GET /.test(
        findCondition(status?.conditions, "Ready")?.message ?? "",
      ),
    );
    assert.equal(findCondition(helmOp.status?.conditions, "Accepted")?.status, "True");
    // While the next attempt runs, it says so.
    const deployment = await workspace.waitForBundleDeployment(
      cluster.name,
      name,
      "waiting for the next attempt",
      ({ status }) => /^GET /.test(findCondition(status?.conditions, "Deployed")?.message ?? ""),
    );
    const deployed = findCondition(deployment.status?.conditions, "Deployed");
    assert.equal(deployed?.status, "False");
    assert.equal(deployed.reason, "ChartNotFetched");
    assert.equal(deployment.status?.display?.deployed, `Error: ${deployed.message}`);
    return deployed.message ?? "";
  }

  describe("a chart", () => {
    test("whose digest differs from the index is rejected by the agent, the deployment stays, and a corrected index is read again", async () => {
      await workspace.createHelmOp("bytes", goodSpec);
      await fixture.ready("bytes");
      const { records } = await fixture.snapshot("bytes");

      await workspace.patchHelmOp("bytes", { helm: { repo: faulty.at("other-bytes") } });
      const message = await rejectionOf("bytes");
      assert.match(
        message,
        new RegExp(
          `^GET ${faulty.at("other-bytes")}/web-1\\.0\\.0\\.tgz: chart digest mismatch: downloaded sha256:${good.digest}, index.yaml says sha256:0{64}; fix the index or publish the chart again; retrying at `,
        ),
      );
      assert.deepEqual((await fixture.snapshot("bytes")).records, records);

      faulty.setIndex("other-bytes", indexText(good, { digest: good.digest }));
      await fixture.ready("bytes");
    });

    test("that is missing at the address in the index is reported with the address, and correcting the HelmOp does not change its release", async () => {
      await workspace.createHelmOp("no-archive", goodSpec);
      await fixture.ready("no-archive");
      const before = await fixture.snapshot("no-archive");

      await workspace.patchHelmOp("no-archive", { helm: { repo: faulty.at("no-archive") } });
      assert.match(
        await rejectionOf("no-archive"),
        /^GET http:\/\/127\.0\.0\.1:\d+\/no-archive\/elsewhere\.tgz: error code: 404 Not Found; retrying at /,
      );

      await fixture.replaceSpec("no-archive", goodSpec);
      await fixture.ready("no-archive");
      assert.deepEqual(await fixture.snapshot("no-archive"), before);
    });

    test("whose address in the index has a password is reported without it", async () => {
      const url = `http://user:${password}@127.0.0.1:1/web.tgz?token=${password}`;
      // An archive that no agent has in its cache.
      faulty.setIndex("secret-address", indexText(good, { digest: "3".repeat(64), url }));
      await workspace.createHelmOp("secret-address", from("secret-address"));

      assert.match(
        await rejectionOf("secret-address"),
        /^GET http:\/\/127\.0\.0\.1:1\/web\.tgz\?…: connection refused; retrying at /,
      );
    });

    test("from an index without digests is installed, and a truncated digest is reported", async () => {
      await workspace.createHelmOp("no-digest", from("no-digest"));
      await workspace.createHelmOp("half-a-digest", from("half-a-digest"));

      const without = await fixture.ready("no-digest");
      assert.equal(findCondition(without.status?.conditions, "Accepted")?.message, "");
      const half = await fixture.ready("half-a-digest");
      assert.match(
        messageOf(half, "Accepted"),
        /^1\.0\.0 of web has a digest that is not a sha256 and is ignored$/,
      );
    });

    test("that is published again with other content is reported, also after the poll that found it, and the deployment stays", async () => {
      faulty.setIndex("again", indexText(good, { digest: good.digest }));
      await workspace.createHelmOp("again", {
        ...from("again", { version: "1.x" }),
        pollingInterval: "1s",
      });
      await fixture.ready("again");
      const { deployment, records } = await fixture.snapshot("again");
      const isReported =
        /^version 1\.0\.0 was published again with other bytes \(sha256:2{64} instead of/;
      const reported = () =>
        workspace.waitForHelmOp("again", "reported as published again", ({ metadata, status }) => {
          const accepted = findCondition(status?.conditions, "Accepted");
          return (
            accepted?.status === "True" &&
            accepted.observedGeneration === metadata.generation &&
            isReported.test(accepted.message ?? "")
          );
        });

      faulty.setIndex("again", indexText(good, { digest: "2".repeat(64) }));
      await reported();
      await workspace.patchHelmOp("again", { suspend: true });
      await reported();

      const running = await fixture.snapshot("again");
      assert.partialDeepStrictEqual(running.deployment, deployment);
      assert.deepEqual(running.records, records);
    });

    test("of a repository that fails from the start is not deployed, and is installed once the repository works", async () => {
      await workspace.createHelmOp("late", from("late"));
      const rejected = await fixture.accepted("late", "False");
      const { status, message } = findCondition(rejected.status?.conditions, "Ready") ?? {};
      assert.equal(status, "False");
      assert.match(
        message ?? "",
        /^could not get a chart version: GET .*index\.yaml: error code: 404 Not Found/,
      );
      assert.equal((await fixture.snapshot("late")).bundle, undefined);

      faulty.setIndex("late", indexText(good, { digest: good.digest }));
      await fixture.ready("late");
    });
  });

  test("an unknown field is kept, and reported in Accepted and in one Event", async () => {
    await workspace.createHelmOp("typo", goodSpec);
    await workspace.patchHelmOp("typo", { helm: { vesion: "1.2.3" } });

    const helmOp = await fixture.ready("typo");
    const remark = "unknown field spec.helm.vesion has no effect, did you mean spec.helm.version?";
    assert.equal(findCondition(helmOp.status?.conditions, "Accepted")?.message, remark);
    assert.equal(Reflect.get(helmOp.spec.helm ?? {}, "vesion"), "1.2.3");
    const recorded = async () =>
      (await fleet.hub.reader.list(events, { namespace: workspace.namespace })).filter(
        ({ reason, regarding }) =>
          reason === "UnknownField" && regarding?.uid === helmOp.metadata.uid,
      );
    // Events are sent one after the other.
    await waitUntil(async () => (await recorded()).length > 0, {
      what: "the Event",
      timeoutMs: hangMs,
    });
    assert.deepEqual(
      (await recorded()).map(({ type, note }) => [type, note]),
      [["Warning", remark]],
    );

    await workspace.patchHelmOp("typo", { helm: { vesion: null } });
    const corrected = await fixture.ready("typo");
    assert.equal(findCondition(corrected.status?.conditions, "Accepted")?.message, "");
  });
}
