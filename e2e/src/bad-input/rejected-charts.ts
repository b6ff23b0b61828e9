/** Charts that the hub resolves and the agent refuses, and sources that say something else than before. */
import assert from "node:assert/strict";
import { waitUntil } from "@flotilla/local/process";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { events } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import type { World } from "./bad-input-fleet.ts";
import { indexText } from "./faulty-repositories.ts";

export function chartsAreRefused({ fleet, bench, good, odd, goodSpec, password }: World): void {
  const from = (way: string, helm: object = {}) => ({
    ...goodSpec,
    helm: { ...goodSpec.helm, repo: odd.at(way), ...helm },
  });

  /** What the HelmOp and its BundleDeployment say once the agent has refused the chart. */
  async function refusalOf(name: string): Promise<string> {
    const helmOp = await bench.that(name, "refused by the agent", ({ status }) =>
      /^ErrApplied\(1\) \[Cluster fleet-default\/cluster-1: GET /.test(
        findCondition(status?.conditions, "Ready")?.message ?? "",
      ),
    );
    assert.equal(findCondition(helmOp.status?.conditions, "Accepted")?.status, "True");
    const deployment = await bench.deploymentOf(name);
    const deployed = findCondition(deployment?.status?.conditions, "Deployed");
    assert.equal(deployed?.status, "False");
    assert.equal(deployed.reason, "ChartNotFetched");
    assert.equal(deployment?.status?.display?.deployed, `Error: ${deployed.message}`);
    return deployed.message ?? "";
  }

  describe("a chart", () => {
    test("whose bytes differ from the index is refused by the agent, what runs stays, and a corrected index is read again", async () => {
      await bench.create("bytes", goodSpec);
      await bench.ready("bytes");
      const { records } = await bench.runningOf("bytes");

      await bench.change("bytes", { helm: { repo: odd.at("other-bytes") } });
      const message = await refusalOf("bytes");
      assert.match(
        message,
        new RegExp(
          `^GET ${odd.at("other-bytes")}/web-1\\.0\\.0\\.tgz: chart digest mismatch: downloaded sha256:${good.digest}, index.yaml says sha256:0{64}; fix the index or publish the chart again; retrying at `,
        ),
      );
      assert.deepEqual((await bench.runningOf("bytes")).records, records);

      odd.setIndex("other-bytes", indexText(good, { digest: good.digest }));
      await bench.ready("bytes");
    });

    test("that is not at the address in the index is said with the address, and mending the HelmOp leaves its release", async () => {
      await bench.create("no-archive", goodSpec);
      await bench.ready("no-archive");
      const running = await bench.runningOf("no-archive");

      await bench.change("no-archive", { helm: { repo: odd.at("no-archive") } });
      assert.match(
        await refusalOf("no-archive"),
        /^GET http:\/\/127\.0\.0\.1:\d+\/no-archive\/elsewhere\.tgz: 404 Not Found; retrying at /,
      );

      await bench.replaceSpec("no-archive", goodSpec);
      await bench.ready("no-archive");
      assert.deepEqual(await bench.runningOf("no-archive"), running);
    });

    test("whose address in the index has a password is told without it", async () => {
      const url = `http://user:${password}@127.0.0.1:1/web.tgz?token=${password}`;
      // Of an archive that no agent has in its cache.
      odd.setIndex("secret-address", indexText(good, { digest: "3".repeat(64), url }));
      await bench.create("secret-address", from("secret-address"));

      assert.match(
        await refusalOf("secret-address"),
        /^GET http:\/\/127\.0\.0\.1:1\/web\.tgz\?…: connection refused; retrying at /,
      );
    });

    test("from an index without digests is installed, and half a digest is told", async () => {
      await bench.create("no-digest", from("no-digest"));
      await bench.create("half-a-digest", from("half-a-digest"));

      const without = await bench.ready("no-digest");
      assert.equal(findCondition(without.status?.conditions, "Accepted")?.message, "");
      const half = await bench.ready("half-a-digest");
      assert.match(
        findCondition(half.status?.conditions, "Accepted")?.message ?? "",
        /^1\.0\.0 of web has a digest that is not a sha256 and is ignored$/,
      );
    });

    test("that is published again with other bytes is told, also after the poll that found it, and what runs stays", async () => {
      odd.setIndex("again", indexText(good, { digest: good.digest }));
      await bench.create("again", { ...from("again", { version: "1.x" }), pollingInterval: "1s" });
      await bench.ready("again");
      const { deployment, records } = await bench.runningOf("again");
      const isTold =
        /^version 1\.0\.0 was published again with other bytes \(sha256:2{64} instead of/;
      const told = () =>
        bench.that("again", "told that it was published again", ({ metadata, status }) => {
          const accepted = findCondition(status?.conditions, "Accepted");
          return (
            accepted?.status === "True" &&
            accepted.observedGeneration === metadata.generation &&
            isTold.test(accepted.message ?? "")
          );
        });

      odd.setIndex("again", indexText(good, { digest: "2".repeat(64) }));
      await told();
      await bench.change("again", { suspend: true });
      await told();

      const running = await bench.runningOf("again");
      assert.deepEqual([running.deployment, running.records], [deployment, records]);
    });

    test("of a repository that is broken from the start is not there, and is installed once the repository is well", async () => {
      await bench.create("late", from("late"));
      const refused = await bench.accepted("late", "False");
      const { status, message } = findCondition(refused.status?.conditions, "Ready") ?? {};
      assert.equal(status, "False");
      assert.match(
        message ?? "",
        /^could not get a chart version: GET .*index\.yaml: 404 Not Found/,
      );
      assert.equal((await bench.runningOf("late")).bundle, undefined);

      odd.setIndex("late", indexText(good, { digest: good.digest }));
      await bench.ready("late");
    });
  });

  test("a field that nobody reads is kept, and said in Accepted and in one Event", async () => {
    await bench.create("typo", goodSpec);
    await bench.change("typo", { helm: { vesion: "1.2.3" } });

    const helmOp = await bench.ready("typo");
    const remark = "unknown field spec.helm.vesion has no effect, did you mean spec.helm.version?";
    assert.equal(findCondition(helmOp.status?.conditions, "Accepted")?.message, remark);
    assert.equal(Reflect.get(helmOp.spec.helm ?? {}, "vesion"), "1.2.3");
    const told = async () =>
      (await fleet.hub.list(events, { namespace: workspaceNamespace })).items.filter(
        ({ reason, regarding }) =>
          reason === "UnknownField" && regarding?.uid === helmOp.metadata.uid,
      );
    // Events are sent one after the other, behind those of everybody else.
    await waitUntil(async () => (await told()).length > 0, {
      what: "the Event",
      timeoutMs: 20_000,
    });
    assert.deepEqual(
      (await told()).map(({ type, note }) => [type, note]),
      [["Warning", remark]],
    );

    await bench.change("typo", { helm: { vesion: null } });
    const mended = await bench.ready("typo");
    assert.equal(findCondition(mended.status?.conditions, "Accepted")?.message, "");
  });
}
