import assert from "node:assert/strict";
import type { ReceiverResource } from "@flotilla/shared/flux";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { createFilters } from "./filters.ts";
import type { Receiver } from "./receiver.ts";
import { createSelection, invalidResource, mostTargets } from "./targets.ts";

const own = { metadata: { namespace: "apps", name: "hook" } };

describe("a resource of a Receiver", () => {
  test.each<{
    readonly name: string;
    readonly resource: ReceiverResource;
    readonly crossNamespace?: boolean;
    readonly why?: RegExp;
  }>([
    { name: "a source without apiVersion", resource: { kind: "GitRepository", name: "web" } },
    { name: "a HelmOp", resource: { kind: "HelmOp", name: "web" } },
    {
      name: "a HelmRelease without apiVersion",
      resource: { kind: "HelmRelease", name: "web" },
      why: /apiVersion must be set .* helm.toolkit.fluxcd.io\/v2/,
    },
    {
      name: "a HelmRelease with it",
      resource: { apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease", name: "web" },
    },
    {
      name: "a source of an older version",
      resource: {
        apiVersion: "source.toolkit.fluxcd.io/v1beta2",
        kind: "OCIRepository",
        name: "web",
      },
      why: /write source.toolkit.fluxcd.io\/v1/,
    },
    {
      name: "a kind that the hub does not reconcile",
      resource: { kind: "ImageRepository", name: "web" },
      why: /ImageRepository is not reconciled/,
    },
    {
      name: "an object of another namespace",
      resource: { kind: "Bucket", name: "web", namespace: "other" },
      why: /another namespace/,
    },
    {
      name: "an object of another namespace where that is allowed",
      resource: { kind: "Bucket", name: "web", namespace: "other" },
      crossNamespace: true,
    },
    {
      name: "all objects without labels",
      resource: { kind: "Bucket", name: "*" },
      why: /needs matchLabels/,
    },
  ])("that is $name", ({ resource, crossNamespace = false, why }) => {
    const found = invalidResource(resource, own, { crossNamespace });

    if (why === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", why);
  });
});

describe("the targets of a call", () => {
  const web: KubeObject = {
    metadata: { namespace: "apps", name: "web", annotations: { image: "r.example.com/web" } },
  };
  const db: KubeObject = { metadata: { namespace: "apps", name: "db" } };
  const read = (...objects: readonly KubeObject[]): readonly KubeObject[] => objects;

  async function select(
    resources: readonly Pick<ReceiverResource, "filter">[],
    found: readonly (readonly KubeObject[] | string)[],
    resourceFilter?: string,
    steps = 100_000,
  ) {
    const receiver = {
      ...own,
      spec: {
        type: "generic",
        interval: "10m",
        resources: resources.map((each) => ({ kind: "HelmOp", name: "*", ...each })),
        ...(resourceFilter !== undefined && { resourceFilter }),
      },
    } as unknown as Receiver;
    const selection = createSelection(receiver, {
      req: { image: "r.example.com/web" },
      filters: createFilters(),
      allowance: { steps },
    });
    for (const [index, objects] of found.entries())
      if (typeof objects === "string") selection.fail([index], objects);
      else await selection.add([index], objects);
    const { targets, errors } = selection.result();
    return { keys: targets.map(({ key }) => key), errors };
  }

  test("are each object once", async () => {
    assert.deepEqual(await select([{}, {}], [read(web, db), read(db)]), {
      keys: ["apps/web", "apps/db"],
      errors: [],
    });
  });

  test("pass both filters, of the payload and the metadata", async () => {
    const filter = "res.metadata.name != 'db' && res.kind == 'HelmOp'";
    const resourceFilter = "res.metadata.?annotations.image.orValue('') == req.image";

    assert.deepEqual((await select([{ filter }], [read(web, db)], resourceFilter)).keys, [
      "apps/web",
    ]);
    assert.deepEqual((await select([{}], [read(db)], resourceFilter)).keys, []);
  });

  test.each([
    ["is not a boolean", "res.metadata.name"],
    ["reads a field that is not there", "req.missing == 'x'"],
    ["reads a variable that is not there", "claims.sub == 'x'"],
  ])("are those of the other resources when a filter %s", async (_, filter) => {
    const { keys, errors } = await select([{ filter }, {}], [read(web), read(db)]);

    assert.deepEqual(keys, ["apps/db"]);
    assert.match(errors.join(), /^spec\.resources\[0\]: the filter /);
  });

  test("are those of the other resources when one cannot be read", async () => {
    const { keys, errors } = await select([{}, {}], ["gone", read(db)]);

    assert.deepEqual(keys, ["apps/db"]);
    assert.deepEqual(errors, ["spec.resources[0]: gone"]);
  });

  test("end when the filters have used their steps", async () => {
    const { errors } = await select(
      [{ filter: "req.image.size() > 1" }],
      [read(web, db)],
      undefined,
      1,
    );

    assert.match(errors.join(), /take too long/);
  });

  test("are no more than the limit", async () => {
    const many = Array.from({ length: mostTargets + 1 }, (_, index) => ({
      metadata: { namespace: "apps", name: `app-${index}` },
    }));

    const { keys, errors } = await select([{}], [read(...many)]);

    assert.equal(keys.length, mostTargets);
    assert.match(errors.join(), /more than 5000 objects/);
  });
});
