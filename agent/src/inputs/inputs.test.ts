import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { plainContent } from "@flotilla/shared/content/testing/plain-content.ts";
import { KubeStatusError } from "@flotilla/shared/kube/client/status-error.ts";
import { configMaps } from "@flotilla/shared/kube/objects/core-resources.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import type { ClusterFacts } from "@flotilla/shared/supply/cluster-facts.ts";
import { systemClock as clock } from "@flotilla/shared/time/clock.ts";
import { describe, test } from "vitest";
import type { Actor } from "../acting/actors.ts";
import { createInputs } from "./inputs.ts";

const content: DeploymentContent = {
  ...plainContent,
  values: { password: "${ randAlphaNum 8 }" },
};
const plain: DeploymentContent = { ...content, values: { password: "fixed" } };
const paris: ClusterFacts = {
  namespace: "fleet-default",
  name: "paris",
  labels: {},
  annotations: {},
  templateValues: {},
};
const more = { kind: "ConfigMap", name: "more", key: "values.yaml" } as const;
const { signal } = new AbortController();

/** What an agent knows of a cluster, and how often it has rendered; `renderings` of an earlier agent go on being counted. */
function setUp(rest = createMemoryApiServer()) {
  let facts: ClusterFacts | undefined = paris;
  const renderings: string[] = [];
  const inputs = createInputs({
    rest,
    supplies: { get: () => undefined },
    facts: { get: () => facts },
    renderValues: () => {
      const password = crypto.randomUUID();
      renderings.push(password);
      return Promise.resolve({ password });
    },
    clock,
    log: silentLog(),
  });
  const actor: Actor = { title: "the agent itself", isAgent: true, rest, helmArgs: [] };
  return {
    rest,
    inputs,
    renderings,
    tell: (told: ClusterFacts | undefined) => {
      facts = told;
    },
    gather: (wanted: DeploymentContent = content) =>
      inputs.gather(wanted, { deployment: "app", actor, signal }),
  };
}

/** As the labels of a release say that was installed. */
async function installed({ gather }: ReturnType<typeof setUp>, wanted = content) {
  const gathered = await gather(wanted);
  const { digest } = await gathered.final();
  return { digest, ...(gathered.origin !== undefined && { origin: gathered.origin }) };
}

describe("a release whose values were rendered", () => {
  test("is known to be as wanted by an agent that never rendered them", async () => {
    const release = await installed(setUp());
    const restarted = setUp();

    assert.equal(await (await restarted.gather()).digest(release), release.digest);
    assert.deepEqual(restarted.renderings, []);
  });

  test("is rendered once for as long as nothing changes, also where none is installed", async () => {
    const agent = setUp();

    const first = await (await agent.gather()).digest(undefined);
    const { values, digest } = await (await agent.gather()).final();

    assert.equal(digest, first);
    assert.deepEqual([values?.["password"]], agent.renderings);
  });

  const changes: readonly (readonly [
    what: string,
    changed: DeploymentContent,
    cluster: ClusterFacts,
    isRendered: boolean,
  ])[] = [
    ["for other values", { ...content, values: { a: "${ 1 }" } }, paris, true],
    ["for another computed value", { ...content, templateValues: { a: "1" } }, paris, true],
    [
      "for another chart",
      { ...content, pin: { kind: "tarball", url: "https://charts.example.com/b.tgz" } },
      paris,
      true,
    ],
    ["for another label of the cluster", content, { ...paris, labels: { a: "b" } }, true],
    [
      "not for what does not reach Helm's templates",
      { ...content, helm: { ...content.helm, maxHistory: 9 }, keepResources: true },
      paris,
      false,
    ],
  ];
  for (const [what, changed, cluster, isRendered] of changes) {
    test(`is rendered anew ${what}`, async () => {
      const release = await installed(setUp());
      const agent = setUp();
      agent.tell(cluster);

      const digest = await (await agent.gather(changed)).digest(release);

      assert.equal(agent.renderings.length === 1, isRendered);
      assert.equal(digest !== release.digest, isRendered);
    });
  }

  test("is rendered anew when what is merged over it changes", async () => {
    const agent = setUp();
    const wanted = { ...content, valuesFrom: [more] };
    const put = (text: string) =>
      agent.rest.put(configMaps, {
        metadata: { namespace: "shop", name: "more" },
        data: { [more.key]: text },
      });
    put("a: 1");
    const release = await installed(agent, wanted);

    put("a: 1 # the same");
    assert.equal(await (await agent.gather(wanted)).digest(release), release.digest);
    put("a: 2");
    const { values } = await (await agent.gather(wanted)).final();

    assert.deepEqual(values, { password: agent.renderings[1], a: 2 });
    await agent.inputs.end();
  });
});

describe("an object with values", () => {
  for (const [what, status, code] of [
    ["that may not be read counts as missing", 403, "VALUES_SOURCE_MISSING"],
    ["that could not be read says nothing of whether it is there", 503, "KUBE_SERVER"],
  ] as const) {
    test(what, async () => {
      const agent = setUp();
      const refused = new KubeStatusError("get it: no", { status, reason: "" });
      agent.rest.beforeRead = () => {
        throw refused;
      };

      await assert.rejects(agent.gather({ ...plain, valuesFrom: [more] }), { code });
      await agent.inputs.end();
    });
  }
});

describe("values without templates", () => {
  test("are rendered by nobody, need nothing of the cluster, and have no origin", async () => {
    const agent = setUp();
    agent.tell(undefined);

    const gathered = await agent.gather(plain);

    assert.equal(gathered.origin, undefined);
    assert.deepEqual((await gathered.final()).values, plain.values);
    assert.deepEqual(agent.renderings, []);
  });

  test("with templates wait for what the hub says of the cluster", async () => {
    const agent = setUp();
    agent.tell(undefined);

    await assert.rejects(agent.gather(), { code: "SUPPLY_AWAITED" });
  });
});
