import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { configMaps } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import type { ClusterInfo } from "@flotilla/shared/referenced";
import { systemClock as clock } from "@flotilla/shared/time";
import { parseHelmYaml } from "@flotilla/shared/yaml";
import { describe, test } from "vitest";
import type { ImpersonatedClient } from "../../base/impersonation/impersonated-clients.ts";
import { createInputCollector } from "./release-inputs.ts";

const content: DeploymentContent = {
  ...plainContent,
  values: { password: "${ randAlphaNum 8 }" },
};
const plain: DeploymentContent = { ...content, values: { password: "fixed" } };
const paris: ClusterInfo = {
  namespace: "fleet-default",
  name: "paris",
  labels: {},
  annotations: {},
  templateValues: {},
};
const more = { kind: "ConfigMap", name: "more", key: "values.yaml" } as const;
const { signal } = new AbortController();

/** An input collector; `renderings` has the password of each rendering. */
function setUp(rest = createMemoryApiServer()) {
  let current: ClusterInfo | undefined = paris;
  const renderings: string[] = [];
  const inputs = createInputCollector({
    readYaml: (text, name) => Promise.resolve(parseHelmYaml(text, { name })),
    referenced: { get: () => undefined },
    clusterInfo: { get: () => current },
    renderValues: () => {
      const password = crypto.randomUUID();
      renderings.push(password);
      return Promise.resolve({ password });
    },
    clock,
    log: silentLog(),
  });
  const client: ImpersonatedClient = {
    subject: "the agent itself",
    isAgent: true,
    rest,
    helmArgs: [],
    watch: { subject: "the agent", rest, isPerNamespace: false },
  };
  return {
    rest,
    inputs,
    renderings,
    setCluster: (next: ClusterInfo | undefined) => {
      current = next;
    },
    collect: (desired: DeploymentContent = content) =>
      inputs.collect(desired, { id: "app", client, signal }),
  };
}

/** The labels of an installed release. */
async function installed({ collect }: ReturnType<typeof setUp>, desired = content) {
  const collected = await collect(desired);
  const { digest } = await collected.final();
  return { digest, ...(collected.origin !== undefined && { origin: collected.origin }) };
}

describe("a release whose values were rendered", () => {
  test("is in sync for an agent that has not rendered them", async () => {
    const release = await installed(setUp());
    const restarted = setUp();

    assert.equal(await (await restarted.collect()).digest(release), release.digest);
    assert.deepEqual(restarted.renderings, []);
  });

  test("is rendered once while nothing changes, even before it is installed", async () => {
    const agent = setUp();

    const first = await (await agent.collect()).digest(undefined);
    const { values, digest } = await (await agent.collect()).final();

    assert.equal(digest, first);
    assert.deepEqual([values?.["password"]], agent.renderings);
  });

  const changes: readonly (readonly [
    what: string,
    changed: DeploymentContent,
    cluster: ClusterInfo,
    isRendered: boolean,
  ])[] = [
    ["other values", { ...content, values: { a: "${ 1 }" } }, paris, true],
    ["another entry of templateValues", { ...content, templateValues: { a: "1" } }, paris, true],
    [
      "another chart",
      { ...content, pin: { kind: "tarball", url: "https://charts.example.com/b.tgz" } },
      paris,
      true,
    ],
    ["another label of the cluster", content, { ...paris, labels: { a: "b" } }, true],
    [
      "options that templates cannot use",
      { ...content, helm: { ...content.helm, maxHistory: 9 }, keepResources: true },
      paris,
      false,
    ],
  ];
  for (const [what, changed, cluster, isRendered] of changes) {
    test(`is ${isRendered ? "" : "not "}rendered again for ${what}`, async () => {
      const release = await installed(setUp());
      const agent = setUp();
      agent.setCluster(cluster);

      const digest = await (await agent.collect(changed)).digest(release);

      assert.equal(agent.renderings.length === 1, isRendered);
      assert.equal(digest !== release.digest, isRendered);
    });
  }

  test("is rendered again when an object of valuesFrom changes", async () => {
    const agent = setUp();
    const desired = { ...content, valuesFrom: [more] };
    const put = (text: string) =>
      agent.rest.put(configMaps, {
        metadata: { namespace: "shop", name: "more" },
        data: { [more.key]: text },
      });
    put("a: 1");
    const release = await installed(agent, desired);

    put("a: 1 # the same");
    assert.equal(await (await agent.collect(desired)).digest(release), release.digest);
    put("a: 2");
    const { values } = await (await agent.collect(desired)).final();

    assert.deepEqual(values, { password: agent.renderings[1], a: 2 });
    await agent.inputs.end();
  });
});

describe("an object of valuesFrom", () => {
  for (const [what, status, code] of [
    ["that is forbidden is reported as missing", 403, "VALUES_SOURCE_MISSING"],
    ["that cannot be read is not reported as missing", 503, "KUBE_SERVER"],
  ] as const) {
    test(what, async () => {
      const agent = setUp();
      const error = new KubeStatusError("get it: no", { status, reason: "" });
      agent.rest.beforeRead = () => {
        throw error;
      };

      await assert.rejects(agent.collect({ ...plain, valuesFrom: [more] }), { code });
      await agent.inputs.end();
    });
  }
});

describe("values", () => {
  test("without templates are not rendered, need no cluster info, and have no origin", async () => {
    const agent = setUp();
    agent.setCluster(undefined);

    const collected = await agent.collect(plain);

    assert.equal(collected.origin, undefined);
    assert.deepEqual((await collected.final()).values, plain.values);
    assert.deepEqual(agent.renderings, []);
  });

  test("with templates wait for the cluster info", async () => {
    const agent = setUp();
    agent.setCluster(undefined);

    await assert.rejects(agent.collect(), { code: "REFERENCED_OBJECT_PENDING" });
  });
});
